import { type LockHold, type Permit, Redisson } from 'rlock'
import type { Random } from '../../../../test/kit/random'
import { tapped } from '../../../../test/kit/tapped-transport'
import { inMemoryRedis } from '../../src/index'
import { step } from './steps'

/** A call of a script as a client sends it. */
export interface RecordedCall {
  readonly keys: readonly string[]
  readonly args: readonly string[]
}

export type Corpus = ReadonlyMap<string, readonly RecordedCall[]>

/** Of one script. */
const MOST = 300
const ROUNDS = 150
/** After so many rounds what chance brings seldom. */
const A_TOUR = 10
/** Longer than the allowance of a place in the queue of a fair lock. */
const A_WHILE = 11_000
/** Over when its answer is late, but not while servers are compared. */
const A_LEASE = 6_000

/** What clients send while callers use every primitive at random. Leases are long: none ends during a run. */
export async function recordCalls(random: Random): Promise<Corpus> {
  const corpus = new Map<string, RecordedCall[]>()
  let isLate = false
  const transport = tapped(async (sent) => {
    const calls = corpus.get(sent.name) ?? []
    corpus.set(sent.name, calls)
    if (calls.length < MOST) calls.push({ keys: [...sent.keys], args: sent.args.map(String) })
    const reply = await sent.pass()
    if (isLate && sent.name === 'token-lock/acquire') {
      isLate = false
      await redis.advance(A_LEASE + 1_000)
    }
    return reply
  })
  const redis = inMemoryRedis()
  const open = () => Redisson.createWith({ redis }, { transport })
  const clients = await Promise.all([open(), open()])
  for (let round = 0; round < ROUNDS; round++) {
    const calls = clients.flatMap((client) => [1, 2].map((threadId) => step(client, threadId, random)))
    await Promise.allSettled(calls)
    if (round % A_TOUR === 0) {
      await whileOneWaits(clients, () => redis.advance(A_WHILE))
      await forced(clients)
      await reentered(clients[0]!)
      await givenUp(clients[0]!)
      await handedOff(clients, () => redis.advance(0))
      isLate = true
      await clients[0]!.getTokenLock('token:late').withLock(() => {}, { leaseTime: A_LEASE })
    }
    if (round % 20 === 19) redis.flush()
  }
  await Promise.all(clients.map((client) => client.shutdown({ timeout: 0 })))
  return corpus
}

/** Lets time go by while one waits for a fair lock and others have what is renewed. */
async function whileOneWaits([one, other]: readonly Redisson[], goesBy: () => Promise<void>): Promise<void> {
  const permits = one!.getPermitExpirableSemaphore('permits:renewed')
  await permits.trySetPermits(9)
  const holds = await Promise.all([
    one!.getFairLock('fair:waited').tryAcquire(),
    one!.getTokenLock('token:renewed').tryAcquire(),
    permits.tryAcquirePermit(),
  ])
  const end = new AbortController()
  const waiting = other!.getFairLock('fair:waited').lock({ signal: end.signal })
  await goesBy()
  end.abort()
  await Promise.allSettled([waiting, ...holds.map((hold) => hold && release(hold))])
}

const release = (held: LockHold | Permit) => ('unlock' in held ? held.unlock() : held.release())

/** Every kind of lock is freed by another client. */
async function forced([one, other]: readonly Redisson[]): Promise<void> {
  for (const lockOf of [
    (client: Redisson) => client.getLock('lock:forced'),
    (client: Redisson) => client.getFairLock('fair:forced'),
    (client: Redisson) => client.getTokenLock('token:forced'),
    (client: Redisson) => client.getReadWriteLock('rw:forced').readLock(),
    (client: Redisson) => client.getReadWriteLock('rw:forced').writeLock(),
  ]) {
    const hold = await lockOf(one!).tryAcquire()
    await lockOf(other!).forceUnlock()
    await hold?.unlock().catch(() => {})
  }
}

async function reentered(client: Redisson): Promise<void> {
  for (const lock of [
    client.getLock('lock:twice'),
    client.getFencedLock('fenced:twice'),
    client.getReadWriteLock('rw:twice').readLock(),
    client.getReadWriteLock('rw:twice').writeLock(),
  ])
    await lock.withLock(() => lock.withLock(() => {}))
}

/** An acquisition of permits is given up while its script is in flight. */
async function givenUp(client: Redisson): Promise<void> {
  const semaphore = client.getSemaphore('semaphore:given-up')
  await semaphore.trySetPermits(3)
  const giving = new AbortController()
  const acquiring = semaphore.acquire({ permits: 2, signal: giving.signal })
  giving.abort()
  await acquiring.catch(() => {})
}

/** Waiters of one client that sleep behind another client give the lock to each other. */
async function handedOff([one, other]: readonly Redisson[], settled: () => Promise<void>): Promise<void> {
  for (const lockOf of [
    (client: Redisson) => client.getLock('lock:handed'),
    (client: Redisson) => client.getTokenLock('token:handed'),
  ]) {
    const hold = await lockOf(other!).tryAcquire()
    const waiting = [1, 2, 3].map(() => lockOf(one!).withLock(() => {}))
    await settled()
    await hold?.unlock()
    await Promise.all(waiting)
  }
}
