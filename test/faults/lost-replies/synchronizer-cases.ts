import type { Redis } from 'ioredis'
import { type Redisson, TimeUnit } from '../../../src/index'
import { LIMITER, limiterName } from './rate-limiter-cases'
import type { Case, Scene } from './synchronizer-case'

const set = (permits: number) => (scene: Scene) => scene.redis.set(scene.name, permits)
/** As Redisson writes it: so many permits, and two out without end, one of which has expired. */
const withPermitsOut = async (scene: Scene) => {
  const { redis, name } = scene
  scene.ids = ['11'.repeat(16), '22'.repeat(16)]
  await redis.set(name, 3)
  for (const [index, id] of scene.ids.entries())
    await redis.zadd(`{${name}}:timeout`, index === 0 ? '922337203685477' : '1000', Buffer.from(id, 'hex'))
}

const SEMAPHORE: Case[] = [
  {
    script: 'semaphore/acquire',
    state: 'enough',
    arrange: set(5),
    act: ({ semaphore }) => semaphore.acquire(2),
  },
  {
    script: 'semaphore/acquire',
    state: 'enough, and released',
    arrange: set(5),
    act: ({ semaphore }) => semaphore.acquire(2),
    afterwards: ({ semaphore }) => semaphore.release(2),
  },
  {
    script: 'semaphore/acquire',
    state: 'by withPermits',
    arrange: set(5),
    act: ({ semaphore }) => semaphore.withPermits(() => 'done'),
  },
  {
    script: 'semaphore/release',
    state: 'there',
    arrange: set(5),
    act: ({ semaphore }) => semaphore.release(2),
  },
  { script: 'semaphore/release', state: 'not there', act: ({ semaphore }) => semaphore.release(2) },
  {
    script: 'semaphore/release',
    state: 'by withPermits',
    arrange: set(5),
    act: ({ semaphore }) => semaphore.withPermits(() => 'done'),
  },
  {
    script: 'semaphore/release',
    state: 'not there, if it exists',
    act: ({ semaphore }) => semaphore.releaseIfExists(2),
  },
  {
    script: 'semaphore/add-permits',
    state: 'up',
    arrange: set(5),
    act: ({ semaphore }) => semaphore.addPermits(2),
  },
  {
    script: 'semaphore/add-permits',
    state: 'down',
    arrange: set(1),
    act: ({ semaphore }) => semaphore.addPermits(-2),
  },
  {
    script: 'semaphore/drain-permits',
    state: 'some',
    arrange: set(5),
    act: ({ semaphore }) => semaphore.drainPermits(),
  },
  {
    script: 'semaphore/drain-permits',
    state: 'some, and some come then',
    arrange: set(5),
    act: ({ semaphore }) => semaphore.drainPermits(),
    afterwards: ({ semaphore }) => semaphore.release(3),
  },
  {
    script: 'semaphore/try-set-permits',
    state: 'not there',
    act: ({ semaphore }) => semaphore.trySetPermits(5),
  },
  {
    script: 'semaphore/try-set-permits',
    state: 'not there, and deleted then',
    act: ({ semaphore }) => semaphore.trySetPermits(5),
    afterwards: ({ redis, name }) => redis.del(name),
  },
  {
    script: 'semaphore/try-set-permits',
    state: 'there',
    arrange: set(1),
    act: ({ semaphore }) => semaphore.trySetPermits(5),
  },
  {
    script: 'semaphore/available-permits',
    state: 'some',
    arrange: set(1),
    act: ({ semaphore }) => semaphore.availablePermits(),
  },
]

const PERMITS: Case[] = [
  {
    script: 'permit-expirable-semaphore/acquire',
    state: 'enough',
    arrange: set(5),
    act: async ({ permits }) => (await permits.acquire({ permits: 2 }))?.length,
  },
  {
    script: 'permit-expirable-semaphore/acquire',
    state: 'enough, and released',
    needsFence: true,
    arrange: set(5),
    act: ({ permits }) => permits.acquire({ permits: 2, leaseTime: 60_000 }),
    afterwards: ({ permits }, ids) => permits.release(ids as string[]),
  },
  {
    script: 'permit-expirable-semaphore/acquire',
    state: 'enough, one that renews itself, and released',
    needsFence: true,
    arrange: set(5),
    act: ({ permits }) => permits.acquirePermit(),
    afterwards: (_, permit) => (permit as { release(): Promise<void> }).release(),
  },
  {
    script: 'permit-expirable-semaphore/acquire',
    state: 'too few until one expires',
    arrange: withPermitsOut,
    act: async ({ permits }) => (await permits.acquire({ permits: 4 }))?.length,
  },
  {
    script: 'permit-expirable-semaphore/release',
    state: 'out',
    arrange: withPermitsOut,
    act: ({ permits, ids }) => permits.release(ids[0]!),
  },
  {
    script: 'permit-expirable-semaphore/release',
    state: 'out, all of them',
    arrange: async (scene) => {
      await withPermitsOut(scene)
      await scene.permits.updateLeaseTime(scene.ids[0]!, 60_000)
    },
    act: ({ permits, ids }) => permits.tryRelease([ids[0]!]),
  },
  {
    script: 'permit-expirable-semaphore/release',
    state: 'one of them not in use',
    arrange: withPermitsOut,
    act: ({ permits, ids }) => permits.tryRelease(ids),
  },
  {
    script: 'permit-expirable-semaphore/count',
    state: 'one expired',
    arrange: withPermitsOut,
    act: ({ permits }) => permits.getPermits(),
  },
  {
    script: 'permit-expirable-semaphore/try-set-permits',
    state: 'not there',
    act: ({ permits }) => permits.trySetPermits(5),
  },
  {
    script: 'permit-expirable-semaphore/try-set-permits',
    state: 'not there, and deleted then',
    act: ({ permits }) => permits.trySetPermits(5),
    afterwards: ({ redis, name }) => redis.del(name),
  },
  {
    script: 'permit-expirable-semaphore/set-permits',
    state: 'there',
    arrange: withPermitsOut,
    act: ({ permits }) => permits.setPermits(7),
  },
  {
    script: 'permit-expirable-semaphore/add-permits',
    state: 'there',
    arrange: withPermitsOut,
    act: ({ permits }) => permits.addPermits(7),
  },
  {
    script: 'permit-expirable-semaphore/update-lease-time',
    state: 'out',
    arrange: withPermitsOut,
    act: ({ permits, ids }) => permits.updateLeaseTime(ids[0]!, 5, TimeUnit.MINUTES),
  },
  {
    script: 'permit-expirable-semaphore/update-lease-time',
    state: 'expired',
    arrange: withPermitsOut,
    act: ({ permits, ids }) => permits.updateLeaseTime(ids[1]!, 5, TimeUnit.MINUTES),
  },
  {
    script: 'permit-expirable-semaphore/get-lease-time',
    state: 'out',
    arrange: withPermitsOut,
    act: ({ permits, ids }) => permits.getLeaseTime(ids[0]!),
  },
]

const LATCH: Case[] = [
  {
    script: 'count-down-latch/count-down',
    state: 'two',
    arrange: set(2),
    act: ({ latch }) => latch.countDown(),
  },
  {
    script: 'count-down-latch/count-down',
    state: 'the last, and set anew',
    arrange: set(1),
    act: ({ latch }) => latch.countDown(),
    afterwards: ({ latch }) => latch.trySetCount(2),
  },
  { script: 'count-down-latch/try-set-count', state: 'open', act: ({ latch }) => latch.trySetCount(2) },
  {
    script: 'count-down-latch/try-set-count',
    state: 'open, and counted down',
    act: ({ latch }) => latch.trySetCount(1),
    afterwards: ({ latch }) => latch.countDown(),
  },
  {
    script: 'count-down-latch/try-set-count',
    state: 'set',
    arrange: set(2),
    act: ({ latch }) => latch.trySetCount(3),
  },
  {
    script: 'count-down-latch/get-count',
    state: 'set',
    arrange: set(2),
    act: ({ latch }) => latch.getCount(),
  },
  {
    script: 'count-down-latch/delete',
    state: 'set, and set anew',
    arrange: set(2),
    act: ({ latch }) => latch.delete(),
    afterwards: ({ latch }) => latch.trySetCount(3),
  },
]

export const CASES = [...SEMAPHORE, ...PERMITS, ...LATCH, ...LIMITER]

export function sceneOf(redis: Redis, redisson: Redisson, name: string): Scene {
  return {
    redis,
    name,
    semaphore: redisson.getSemaphore(name),
    permits: redisson.getPermitExpirableSemaphore(name),
    latch: redisson.getCountDownLatch(name),
    limiter: redisson.getRateLimiter(limiterName(name)),
    ids: [],
  }
}

/** What Redis has. */
export const look = async ({ redis, name }: Scene) => ({
  free: await redis.get(name),
  out: await redis.zcard(`{${name}}:timeout`),
  rate: await redis.hget(limiterName(name), 'rate'),
  left: await redis.get(`${limiterName(name)}:value`),
  grants: await redis.zcard(`${limiterName(name)}:permits`),
})

/** An answer without what is new each time. */
export const plain = (answer: unknown) => (typeof answer === 'object' && answer !== null ? 'granted' : answer)
