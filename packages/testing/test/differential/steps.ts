import { type LockHold, RateType, type Redisson } from 'rlock'
import type { Random } from '../../../../test/kit/random'

const NAMES = ['one', 'two', 'three']
/** A wait that ends at once where nothing is released, in ms of the real time. */
const SHORT = 5
const LONGER = 50

type Actions = readonly (() => Promise<unknown>)[]

/** One call of an object at random, as a caller with this thread id. */
export async function step(client: Redisson, threadId: number, random: Random): Promise<unknown> {
  const name = random.pick(NAMES)
  const kinds = [locks, locks, locks, fairLock, tokenLock, semaphore, expirableSemaphore, latch, rateLimiter]
  return await random.pick(random.pick(kinds)(client, name, threadId, random))()
}

function locks(client: Redisson, name: string, threadId: number, random: Random): Actions {
  const readWrite = client.getReadWriteLock(`rw:${name}`)
  const fenced = client.getFencedLock(`fenced:${name}`)
  const lock = random.pick([
    client.getLock(`lock:${name}`),
    fenced,
    readWrite.readLock(),
    readWrite.writeLock(),
  ])
  const leaseTime = someLease(random)
  return [
    ...Array.from({ length: 3 }, () => () => lock.tryLock({ threadId, leaseTime })),
    ...Array.from({ length: 3 }, () => () => lock.unlock({ threadId })),
    () => lock.tryLock({ threadId, leaseTime, waitTime: SHORT }),
    () => lock.withLock(() => lock.withLock(() => {}, { waitTime: SHORT }), { waitTime: SHORT, leaseTime }),
    () => handOff(() => lock.tryAcquire({ waitTime: LONGER })),
    () => lock.isLocked(),
    () => lock.isHeldByThread(threadId),
    () => lock.remainTimeToLive(),
    () => seldom(random, () => lock.forceUnlock()),
    () => fenced.getToken(),
  ]
}

function fairLock(client: Redisson, name: string, threadId: number, random: Random): Actions {
  const lock = client.getFairLock(`fair:${name}`)
  const leaseTime = someLease(random)
  return [
    () => lock.tryLock({ threadId, leaseTime }),
    () => lock.tryLock({ threadId, leaseTime, waitTime: LONGER }),
    () => lock.unlock({ threadId }),
    () => lock.withLock(() => {}, { waitTime: SHORT }),
    () => lock.isLocked(),
    () => seldom(random, () => lock.forceUnlock()),
  ]
}

function tokenLock(client: Redisson, name: string, threadId: number, random: Random): Actions {
  const lock = client.getTokenLock(`token:${name}`)
  const leaseTime = someLease(random)
  return [
    () => lock.tryLock({ threadId, leaseTime, waitTime: SHORT }),
    () => lock.unlock({ threadId }),
    () => lock.withLock(() => {}, { waitTime: SHORT }),
    () => handOff(() => lock.tryAcquire({ waitTime: LONGER })),
    () => lock.isLocked(),
    () => seldom(random, () => lock.forceUnlock()),
  ]
}

function semaphore(client: Redisson, name: string, _threadId: number, random: Random): Actions {
  const permits = client.getSemaphore(`semaphore:${name}`)
  const some = random.between(1, 3)
  return [
    () => permits.trySetPermits(some),
    () => permits.trySetPermits(some, 90_000),
    () => permits.addPermits(some),
    () => permits.tryAcquire(some),
    () => permits.tryAcquire({ permits: some, waitTime: SHORT }),
    () => permits.release(some),
    () => permits.releaseIfExists(some),
    () => permits.availablePermits(),
    () => permits.drainPermits(),
  ]
}

function expirableSemaphore(client: Redisson, name: string, _threadId: number, random: Random): Actions {
  const permits = client.getPermitExpirableSemaphore(`permits:${name}`)
  const some = random.between(1, 3)
  const leaseTime = random.between(2, 9) * 10_000
  return [
    () => permits.trySetPermits(some),
    () => permits.setPermits(some),
    () => permits.addPermits(some),
    () => permits.tryAcquirePermit(),
    () => permits.tryAcquire({ permits: some, leaseTime, waitTime: SHORT }),
    async () => {
      const [id = ''] = (await permits.tryAcquire({ permits: 1, leaseTime })) ?? []
      await permits.updateLeaseTime(id, leaseTime)
      await permits.getLeaseTime(id)
      if (random.chance(50)) await permits.release(id)
    },
    () => permits.availablePermits(),
    () => permits.acquiredPermits(),
    () => permits.getPermits(),
  ]
}

function latch(client: Redisson, name: string, _threadId: number, random: Random): Actions {
  const count = client.getCountDownLatch(`latch:${name}`)
  return [
    () => count.trySetCount(random.between(1, 3)),
    () => count.countDown(),
    () => count.getCount(),
    () => seldom(random, () => count.delete()),
  ]
}

function rateLimiter(client: Redisson, name: string, _threadId: number, random: Random): Actions {
  const limiter = client.getRateLimiter(`rate:${name}`)
  const permits = random.between(1, 3)
  const type = random.pick([RateType.OVERALL, RateType.PER_CLIENT])
  const rate = [type, random.between(1, 5), random.between(2, 9) * 10_000] as const
  const abort = new AbortController()
  return [
    () => limiter.trySetRate(...rate),
    () => limiter.trySetRate(...rate, { keepAliveTime: 100_000 }),
    () => seldom(random, () => limiter.setRate(...rate)),
    () => limiter.updateRate(...rate, { keepState: true }),
    () => limiter.tryAcquire({ permits, waitTime: SHORT }),
    () => limiter.tryAcquire(permits),
    async () => {
      const acquiring = limiter.acquire({ permits, signal: abort.signal })
      abort.abort()
      await acquiring
    },
    () => limiter.release(permits),
    () => limiter.availablePermits(),
    () => limiter.getConfig(),
    () => seldom(random, () => limiter.delete()),
  ]
}

const someLease = (random: Random) => (random.chance(50) ? random.between(2, 9) * 10_000 : undefined)

const seldom = async (random: Random, action: () => Promise<unknown>) =>
  random.chance(30) ? await action() : undefined

/** Two callers of one client, of which one waits when the other releases. */
async function handOff(acquire: () => Promise<LockHold | undefined>): Promise<void> {
  const section = async () => {
    const hold = await acquire()
    await new Promise((resolve) => setTimeout(resolve, SHORT))
    await hold?.unlock()
  }
  await Promise.allSettled([section(), section()])
}
