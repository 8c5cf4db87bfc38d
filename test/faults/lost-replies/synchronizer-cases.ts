import type { Redis } from 'ioredis'
import { type Redisson, TimeUnit } from '../../../src/index'
import { LIMITER, limiterName } from './rate-limiter-cases'
import { type Case, row, type Scene } from './synchronizer-case'

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
  row('semaphore/acquire', 'enough', set(5), ({ semaphore }) => semaphore.acquire(2)),
  row('semaphore/acquire', 'enough, and released', set(5), ({ semaphore }) => semaphore.acquire(2), {
    afterwards: ({ semaphore }) => semaphore.release(2),
  }),
  row('semaphore/acquire', 'by withPermits', set(5), ({ semaphore }) => semaphore.withPermits(() => 'done')),
  row('semaphore/release', 'there', set(5), ({ semaphore }) => semaphore.release(2)),
  row('semaphore/release', 'not there', undefined, ({ semaphore }) => semaphore.release(2)),
  row('semaphore/release', 'by withPermits', set(5), ({ semaphore }) => semaphore.withPermits(() => 'done')),
  row('semaphore/release', 'not there, if it exists', undefined, ({ semaphore }) =>
    semaphore.releaseIfExists(2),
  ),
  row('semaphore/add-permits', 'up', set(5), ({ semaphore }) => semaphore.addPermits(2)),
  row('semaphore/add-permits', 'down', set(1), ({ semaphore }) => semaphore.addPermits(-2)),
  row('semaphore/drain-permits', 'some', set(5), ({ semaphore }) => semaphore.drainPermits()),
  row(
    'semaphore/drain-permits',
    'some, and some come then',
    set(5),
    ({ semaphore }) => semaphore.drainPermits(),
    { afterwards: ({ semaphore }) => semaphore.release(3) },
  ),
  row('semaphore/try-set-permits', 'not there', undefined, ({ semaphore }) => semaphore.trySetPermits(5)),
  row(
    'semaphore/try-set-permits',
    'not there, and deleted then',
    undefined,
    ({ semaphore }) => semaphore.trySetPermits(5),
    { afterwards: ({ redis, name }) => redis.del(name) },
  ),
  row('semaphore/try-set-permits', 'there', set(1), ({ semaphore }) => semaphore.trySetPermits(5)),
  row('semaphore/available-permits', 'some', set(1), ({ semaphore }) => semaphore.availablePermits()),
]

const PERMITS: Case[] = [
  row(
    'permit-expirable-semaphore/acquire',
    'enough',
    set(5),
    async ({ permits }) => (await permits.acquire({ permits: 2 }))?.length,
  ),
  row(
    'permit-expirable-semaphore/acquire',
    'enough, and released',
    set(5),
    ({ permits }) => permits.acquire({ permits: 2, leaseTime: 60_000 }),
    { needsFence: true, afterwards: ({ permits }, ids) => permits.release(ids as string[]) },
  ),
  row(
    'permit-expirable-semaphore/acquire',
    'enough, one that renews itself, and released',
    set(5),
    ({ permits }) => permits.acquirePermit(),
    { needsFence: true, afterwards: (_, permit) => (permit as { release(): Promise<void> }).release() },
  ),
  row(
    'permit-expirable-semaphore/acquire',
    'too few until one expires',
    withPermitsOut,
    async ({ permits }) => (await permits.acquire({ permits: 4 }))?.length,
  ),
  row('permit-expirable-semaphore/release', 'out', withPermitsOut, ({ permits, ids }) =>
    permits.release(ids[0]!),
  ),
  row(
    'permit-expirable-semaphore/release',
    'out, all of them',
    async (scene) => {
      await withPermitsOut(scene)
      await scene.permits.updateLeaseTime(scene.ids[0]!, 60_000)
    },
    ({ permits, ids }) => permits.tryRelease([ids[0]!]),
  ),
  row('permit-expirable-semaphore/release', 'one of them not in use', withPermitsOut, ({ permits, ids }) =>
    permits.tryRelease(ids),
  ),
  row('permit-expirable-semaphore/count', 'one expired', withPermitsOut, ({ permits }) =>
    permits.getPermits(),
  ),
  row('permit-expirable-semaphore/set-permits', 'not there', undefined, ({ permits }) =>
    permits.trySetPermits(5),
  ),
  row(
    'permit-expirable-semaphore/set-permits',
    'not there, and deleted then',
    undefined,
    ({ permits }) => permits.trySetPermits(5),
    { afterwards: ({ redis, name }) => redis.del(name) },
  ),
  row('permit-expirable-semaphore/set-permits', 'there', withPermitsOut, ({ permits }) =>
    permits.setPermits(7),
  ),
  row('permit-expirable-semaphore/add-permits', 'there', withPermitsOut, ({ permits }) =>
    permits.addPermits(7),
  ),
  row('permit-expirable-semaphore/update-lease-time', 'out', withPermitsOut, ({ permits, ids }) =>
    permits.updateLeaseTime(ids[0]!, 5, TimeUnit.MINUTES),
  ),
  row('permit-expirable-semaphore/update-lease-time', 'expired', withPermitsOut, ({ permits, ids }) =>
    permits.updateLeaseTime(ids[1]!, 5, TimeUnit.MINUTES),
  ),
  row('permit-expirable-semaphore/get-lease-time', 'out', withPermitsOut, ({ permits, ids }) =>
    permits.getLeaseTime(ids[0]!),
  ),
]

const LATCH: Case[] = [
  row('count-down-latch/count-down', 'two', set(2), ({ latch }) => latch.countDown()),
  row('count-down-latch/count-down', 'the last, and set anew', set(1), ({ latch }) => latch.countDown(), {
    afterwards: ({ latch }) => latch.trySetCount(2),
  }),
  row('count-down-latch/try-set-count', 'open', undefined, ({ latch }) => latch.trySetCount(2)),
  row(
    'count-down-latch/try-set-count',
    'open, and counted down',
    undefined,
    ({ latch }) => latch.trySetCount(1),
    { afterwards: ({ latch }) => latch.countDown() },
  ),
  row('count-down-latch/try-set-count', 'set', set(2), ({ latch }) => latch.trySetCount(3)),
  row('count-down-latch/get-count', 'set', set(2), ({ latch }) => latch.getCount()),
  row('count-down-latch/delete', 'set, and set anew', set(2), ({ latch }) => latch.delete(), {
    afterwards: ({ latch }) => latch.trySetCount(3),
  }),
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
