import type { Redis } from 'ioredis'
import { type LockHold, RateType, type Redisson } from '../../src/index'
import { semaphoreChannel } from '../../src/synchronizers/base-permits-attempt'
import { latchChannel } from '../../src/synchronizers/count-down-latch'
import { rateLimiterChannel } from '../../src/synchronizers/rate-limiter'
import { ForeignLock } from '../kit/foreign-lock'
import type { Primitive } from './primitive'
import { plainLock } from './primitives'

/** What a caller that entered can do. */
interface Entered {
  leave(): Promise<unknown>
}

/** Anything that can be waited for. Its name, closed, lets nobody enter. */
export interface Waitable {
  /** As a title names one. */
  readonly name: string
  /** The script of a try. */
  readonly script: string
  /** Lets nobody enter. */
  close(redis: Redis, name: string): Promise<unknown>
  /** Lets a caller enter, and publishes that. */
  open(redis: Redis, name: string): Promise<unknown>
  enter(
    redisson: Redisson,
    name: string,
    options: { waitTime?: number; signal?: AbortSignal },
  ): Promise<Entered | undefined>
  /** Nobody is inside, and the next caller may enter. */
  isFree(redis: Redis, name: string): Promise<boolean>
}

const LEASE = 60_000

function entered(hold: LockHold | undefined): Entered | undefined {
  return hold && { leave: () => hold.unlock() }
}

export function waitableLock(primitive: Primitive): Waitable {
  return {
    name: primitive.name,
    script: primitive.scripts.acquire,
    close: (redis, name) => primitive.blocker(redis, name).take(LEASE),
    open: (redis, name) => primitive.blocker(redis, name).release(),
    enter: async (redisson, name, options) =>
      entered(await primitive.create(redisson, name).tryAcquire({ waitTime: LEASE, ...options })),
    isFree: async (redis, name) => Object.keys(await primitive.holds(redis, name)).length === 0,
  }
}

const partsOf = (name: string) => [`${name}:a`, `${name}:b`] as const

/** Its second member is held by another client. */
export const multiLock: Waitable = {
  name: 'multi lock',
  script: plainLock.scripts.acquire,
  close: (redis, name) => new ForeignLock(redis, partsOf(name)[1]).take(LEASE),
  open: (redis, name) => new ForeignLock(redis, partsOf(name)[1]).release(),
  async enter(redisson, name, options) {
    const locks = partsOf(name).map((part) => redisson.getLock(part))
    return entered(await redisson.getMultiLock(...locks).tryAcquire({ waitTime: LEASE, ...options }))
  },
  isFree: async (redis, name) => (await redis.exists(...partsOf(name))) === 0,
}

/** A semaphore of one permit. */
const onePermit = {
  close: (redis: Redis, name: string) => redis.set(name, 0),
  open: (redis: Redis, name: string) =>
    redis.multi().set(name, 1).publish(semaphoreChannel(name), '1').exec(),
  isFree: async (redis: Redis, name: string) => (await redis.get(name)) === '1',
}

export const semaphore: Waitable = {
  ...onePermit,
  name: 'semaphore',
  script: 'semaphore/acquire',
  async enter(redisson, name, { waitTime = LEASE, signal }) {
    const permits = redisson.getSemaphore(name)
    const isIn = await permits.tryAcquire({ waitTime, ...(signal && { signal }) })
    return isIn ? { leave: () => permits.release() } : undefined
  },
}

/** With a permit that the watchdog renews, and with one that has neither a lease nor a watchdog. */
export const expirableSemaphores: readonly Waitable[] = [
  {
    ...onePermit,
    name: 'permit with a lease',
    script: 'permit-expirable-semaphore/acquire',
    async enter(redisson, name, options) {
      const permits = redisson.getPermitExpirableSemaphore(name)
      const permit = await permits.tryAcquirePermit({ waitTime: LEASE, ...options })
      return permit && { leave: () => permit.release() }
    },
  },
  {
    ...onePermit,
    name: 'permit without a lease',
    script: 'permit-expirable-semaphore/acquire',
    async enter(redisson, name, options) {
      const permits = redisson.getPermitExpirableSemaphore(name)
      const ids = await permits.tryAcquire({ permits: 1, waitTime: LEASE, ...options })
      return ids && { leave: () => permits.release(ids) }
    },
  },
]

export const countDownLatch: Waitable = {
  name: 'latch',
  script: 'count-down-latch/get-count',
  close: (redis, name) => redis.set(name, 1),
  open: (redis, name) => redis.multi().del(name).publish(latchChannel(name), '0').exec(),
  async enter(redisson, name, { waitTime = LEASE, signal }) {
    const isOpen = await redisson.getCountDownLatch(name).await({ waitTime, ...(signal && { signal }) })
    return isOpen ? { leave: async () => {} } : undefined
  },
  isFree: async (redis, name) => (await redis.exists(name)) === 0,
}

/** A grant of one permit, as Java packs it. */
export function grantOf(id: string, permits: number): Buffer {
  const packed = Buffer.alloc(1 + id.length + 4)
  packed.writeUInt8(id.length)
  packed.write(id, 1)
  packed.writeUInt32LE(permits, 1 + id.length)
  return packed
}

/** A rate limiter of one permit in so long an interval that none comes back by itself. */
export const rateLimiter: Waitable = {
  name: 'rate limiter',
  script: 'rate-limiter/acquire',
  async close(redis, name) {
    await redis.hset(name, { rate: 1, interval: LEASE, type: 0, keepAliveTime: 0 })
    await redis.set(`{${name}}:value`, 0)
    await redis.zadd(`{${name}}:permits`, Date.now(), grantOf('of another', 1))
  },
  open: (redis, name) =>
    redis
      .multi()
      .del(`{${name}}:permits`)
      .set(`{${name}}:value`, 1)
      .publish(rateLimiterChannel(name), '1')
      .exec(),
  async enter(redisson, name, { waitTime = LEASE, signal }) {
    const limiter = redisson.getRateLimiter(name)
    await limiter.trySetRate(RateType.OVERALL, 1, LEASE)
    const isIn = await limiter.tryAcquire({ waitTime, ...(signal && { signal }) })
    return isIn ? { leave: () => limiter.release(1) } : undefined
  },
  isFree: async (redis, name) => ((await redis.get(`{${name}}:value`)) ?? '1') === '1',
}
