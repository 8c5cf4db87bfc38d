import { Redisson } from '../../../src/index'
import { inMemoryRedis } from '../../../src/testing/index'
import type { Random } from '../../kit/random'
import { tapped } from '../../kit/tapped-transport'

/** A call of a script as a client sends it. */
export interface RecordedCall {
  readonly keys: readonly string[]
  readonly args: readonly string[]
}

export type Corpus = ReadonlyMap<string, readonly RecordedCall[]>

/** Of one script. */
const MOST = 300
const ROUNDS = 150
const NAMES = ['one', 'two', 'three']

/** What clients send while callers use every primitive at random. Leases are long: none ends during a run. */
export async function recordCalls(random: Random): Promise<Corpus> {
  const corpus = new Map<string, RecordedCall[]>()
  const transport = tapped((sent) => {
    const calls = corpus.get(sent.name) ?? []
    corpus.set(sent.name, calls)
    if (calls.length < MOST) calls.push({ keys: [...sent.keys], args: sent.args.map(String) })
    return sent.pass()
  })
  const redis = inMemoryRedis()
  const open = () => Redisson.createWith({ redis }, { transport })
  const clients = await Promise.all([open(), open()])
  for (let round = 0; round < ROUNDS; round++) {
    const calls = clients.flatMap((client) => [1, 2].map((threadId) => step(client, threadId, random)))
    await Promise.allSettled(calls)
    if (round % 10 === 0) await redis.advance(11_000)
    if (round % 20 === 19) redis.flush()
  }
  await Promise.all(clients.map((client) => client.shutdown({ timeout: 0 })))
  return corpus
}

async function step(client: Redisson, threadId: number, random: Random): Promise<unknown> {
  const name = random.pick(NAMES)
  const readWrite = client.getReadWriteLock(`rw:${name}`)
  const locks = [
    client.getLock(`lock:${name}`),
    client.getFencedLock(`fenced:${name}`),
    readWrite.readLock(),
    readWrite.writeLock(),
  ]
  const lock = random.pick(locks)
  const leaseTime = random.chance(50) ? random.between(2, 9) * 10_000 : undefined
  const latch = client.getCountDownLatch(`latch:${name}`)
  const fenced = client.getFencedLock(`fenced:${name}`)
  const actions: (() => Promise<unknown>)[] = [
    ...Array.from({ length: 3 }, () => () => lock.tryLock({ threadId, leaseTime })),
    ...Array.from({ length: 3 }, () => () => lock.unlock({ threadId })),
    () => lock.tryLock({ threadId, leaseTime, waitTime: 5 }),
    () => lock.withLock(() => {}, { waitTime: 5 }),
    () => handOff(lock),
    () => lock.isLocked(),
    () => lock.isHeldByThread(threadId),
    () => lock.remainTimeToLive(),
    () => (random.chance(20) ? lock.forceUnlock() : Promise.resolve()),
    () => fenced.getToken(),
    () => latch.trySetCount(random.between(1, 3)),
    () => latch.countDown(),
    () => latch.getCount(),
    () => (random.chance(30) ? latch.delete() : Promise.resolve()),
  ]
  return await random.pick(actions)()
}

/** Two callers of one client, of which one waits when the other releases. */
async function handOff(lock: ReturnType<Redisson['getLock']>): Promise<void> {
  const section = () =>
    lock.withLock(() => new Promise((resolve) => setTimeout(resolve, 5)), { waitTime: 50 })
  await Promise.allSettled([section(), section()])
}
