import { expect } from 'chai'
import type { Redis } from 'ioredis'
import { openRedis, uniqueName } from '../test/kit/clients'
import { openUntilTheEnd } from '../test/kit/closing'
import { describeWithJava, ownJavaPeer, REDISSON_VERSIONS } from '../test/kit/java'
import { ownServer } from '../test/kit/servers/index'
import type { Step } from './support/call-sequence'
import { LOCK_SEQUENCES } from './support/call-sequence'
import { type JavaObject, javaObject } from './support/java-methods'
import { PublishedMessages } from './support/keyspace'
import { FAIR } from './support/lock-peer'
import { ModelPeer } from './support/model-peer'
import type { NodePeer } from './support/node-peer'
import { expectSameAsJava } from './support/pairings'
import { READ_WRITE_SEQUENCES } from './support/read-write-sequences'
import type { World } from './support/world'

const version = REDISSON_VERSIONS.newest
const LONG = 20_000

const FAIR_SEQUENCES: Record<string, readonly Step[]> = {
  'a fair lock is taken twice and released': [
    ['a', 'lock', { ...FAIR, leaseTime: LONG }],
    ['a', 'lock', { ...FAIR, leaseTime: LONG }],
    ['b', 'tryLock', FAIR],
    ['a', 'unlock', FAIR],
    ['a', 'unlock', FAIR],
    ['a', 'unlock', FAIR],
  ],
  'a waiter queues, is told and enters': [
    ['a', 'lock', { ...FAIR, leaseTime: LONG }],
    ['b', 'lock', { ...FAIR, leaseTime: LONG, starts: true }],
    ['a', 'unlock', { ...FAIR, ends: true }],
    ['b', 'unlock', FAIR],
  ],
  'a waiter whose wait is over leaves the queue': [
    ['a', 'lock', { ...FAIR, leaseTime: LONG }],
    ['b', 'tryLock', { ...FAIR, waitTime: 80, leaseTime: LONG }],
    ['b', 'unlock', FAIR],
    ['a', 'unlock', FAIR],
  ],
  'a forced release leaves the queue': [
    ['a', 'lock', { ...FAIR, leaseTime: LONG }],
    ['b', 'lock', { ...FAIR, leaseTime: LONG, starts: true }],
    ['a', 'forceUnlock', { ...FAIR, ends: true }],
    ['b', 'unlock', FAIR],
    ['a', 'forceUnlock', FAIR],
  ],
}

describeWithJava(`the model of a Java client in the simulator against Redisson ${version}`, () => {
  openUntilTheEnd()
  const server = ownServer()
  const java = ownJavaPeer(server, { version })
  let redis: Redis
  let model: ModelPeer
  let messages: PublishedMessages

  before(async () => {
    redis = await openRedis(server.url)
    model = new ModelPeer(server.url)
    messages = await PublishedMessages.listen(server.url)
    for (const peer of [java, model]) {
      await peer.thread('warm-up').lock('warm-up')
      await peer.thread('warm-up').unlock('warm-up')
    }
  })
  after(() => {
    messages?.close()
    model?.close()
  })

  for (const [title, steps] of Object.entries({
    ...LOCK_SEQUENCES,
    ...READ_WRITE_SEQUENCES,
    ...FAIR_SEQUENCES,
  }))
    it(`${title}: the model leaves the same keys and messages`, async () => {
      // The model takes the part of our client.
      const world = { version, server, redis, Java: java, Node: model as unknown as NodePeer } as World
      await expectSameAsJava(world, messages, 'order', steps.map(asJava))
    })

  const objects = (getter: string) => {
    const names = [uniqueName(), uniqueName()] as const
    const theirs: JavaObject = javaObject(java.thread('a'), getter, names[0])
    return { names, theirs }
  }

  /** What one name has in Redis, without the name and without ids and times. */
  async function stateOf(name: string): Promise<unknown> {
    const value = await redis.get(name)
    const permits = (await redis.callBuffer('ZRANGE', `{${name}}:timeout`, 0, -1)) as Buffer[]
    const ttls = [await redis.pttl(name), await redis.pttl(`{${name}}:timeout`)].map(Math.sign)
    const published = (await messages.take())
      .filter(([channel]) => channel.includes(name))
      .map(([channel, message]) => [channel.replace(name, '<name>'), message])
    return { value, permits: permits.map(({ length }) => length), ttls, published }
  }

  async function same(
    names: readonly [string, string],
    theirs: Promise<unknown>,
    ours: () => Promise<unknown>,
  ) {
    const answered = (await theirs) ?? undefined
    const state = await stateOf(names[0])
    expect((await ours()) ?? undefined).to.deep.equal(answered)
    expect(await stateOf(names[1])).to.deep.equal(state)
  }

  it('Calls on a semaphore leave the same count and messages', async () => {
    const { names, theirs } = objects('getSemaphore')
    const ours = model.client.semaphore(names[1])
    await same(names, theirs('availablePermits'), () => ours.availablePermits())
    await same(names, theirs('trySetPermits', 4), () => ours.trySetPermits(4))
    await same(names, theirs('trySetPermits', 4), () => ours.trySetPermits(4))
    await same(names, theirs('acquire', 3), () => ours.acquire(3))
    await same(names, theirs('tryAcquire', 2), () => ours.tryAcquire(2))
    await same(names, theirs('release', 5), () => ours.release(5))
    await same(names, theirs('addPermits', 2), () => ours.addPermits(2))
    await same(names, theirs('drainPermits'), () => ours.drainPermits())
    await same(names, theirs('tryAcquire', 1, 50, 'MILLISECONDS'), () => ours.tryAcquire(1, 50))
  })

  it('Calls on an expirable semaphore leave the same count, permits and messages', async () => {
    const { names, theirs } = objects('getPermitExpirableSemaphore')
    const ours = model.client.leasedSemaphore(names[1])
    const ids: [string[], string[]] = [[], []]
    const acquire = (lease?: number) =>
      same(
        names,
        theirs<string | null>('tryAcquire', 0, lease ?? -1, 'MILLISECONDS').then((id) => {
          if (id) ids[0].push(id)
          return id?.length
        }),
        async () => {
          const id = await ours.tryAcquire(0, lease)
          if (id) ids[1].push(id)
          return id?.length
        },
      )
    await same(names, theirs('trySetPermits', 2), () => ours.trySetPermits(2))
    await acquire()
    await acquire(LONG)
    await acquire(LONG)
    const [one, other] = ids
    await same(names, theirs('updateLeaseTime', one[1]!, LONG, 'MILLISECONDS'), () =>
      ours.updateLeaseTime(other[1]!, LONG),
    )
    await same(names, theirs('tryRelease', one[0]!), () => ours.tryRelease(other[0]!))
    await same(names, theirs('tryRelease', one[0]!), () => ours.tryRelease(other[0]!))
    await same(names, theirs('availablePermits'), () => ours.availablePermits())
    await acquire(1)
    await new Promise((resolve) => setTimeout(resolve, 20))
    await same(names, theirs('availablePermits'), () => ours.availablePermits())
  })

  it('Calls on a latch leave the same count and messages', async () => {
    const { names, theirs } = objects('getCountDownLatch')
    const ours = model.client.latch(names[1])
    await same(names, theirs('trySetCount', 2), () => ours.trySetCount(2))
    await same(names, theirs('trySetCount', 2), () => ours.trySetCount(2))
    await same(names, theirs('await', 50, 'MILLISECONDS'), () => ours.await(50))
    await same(names, theirs('countDown'), () => ours.countDown())
    await same(names, theirs('getCount'), () => ours.getCount())
    await same(names, theirs('countDown'), () => ours.countDown())
    await same(names, theirs('countDown'), () => ours.countDown())
    await same(names, theirs('await', 50, 'MILLISECONDS'), () => ours.await(50))
    await same(names, theirs('trySetCount', 1), () => ours.trySetCount(1))
    await same(names, theirs('delete'), () => ours.delete())
    await same(names, theirs('delete'), () => ours.delete())
  })

  it('A Java thread and the model wake each other at locks, semaphores and latches', async () => {
    const [lock, semaphore, latch] = [uniqueName(), uniqueName(), uniqueName()]
    const modelled = model.thread('m')
    await modelled.lock(lock)
    const waiting = java.thread('b').lock(lock)
    await new Promise((resolve) => setTimeout(resolve, 100))
    await modelled.unlock(lock)
    await waiting
    const back = modelled.lock(lock)
    await new Promise((resolve) => setTimeout(resolve, 100))
    await java.thread('b').unlock(lock)
    await back
    await modelled.unlock(lock)

    const theirs = javaObject(java.thread('b'), 'getSemaphore', semaphore)
    await theirs('trySetPermits', 0)
    const acquired = model.client.semaphore(semaphore).acquire()
    await new Promise((resolve) => setTimeout(resolve, 100))
    await theirs('release')
    await acquired

    const theirLatch = javaObject(java.thread('b'), 'getCountDownLatch', latch)
    await theirLatch('trySetCount', 1)
    const opened = model.client.latch(latch).await()
    await new Promise((resolve) => setTimeout(resolve, 100))
    await theirLatch('countDown')
    expect(await opened).to.equal(true)
  })
}, [version])

/** What only our client tells, the model does not. */
function asJava(step: Step): Step {
  if (step[0] === 'sleep' || !step[2]) return step
  const { onlyNodeTells: _, ...options } = step[2]
  return [step[0], step[1], options] as Step
}
