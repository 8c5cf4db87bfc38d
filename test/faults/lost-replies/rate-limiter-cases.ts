import { RateType } from '../../../src/index'
import { type Case, row, type Scene } from './synchronizer-case'

/** A limiter has another type of key than a semaphore and a latch, in the same slot. */
export const limiterName = (name: string) => `{${name}}:rate`

const RATE = [RateType.OVERALL, 5, 60_000] as const
const withRate = ({ limiter }: Scene) => limiter.trySetRate(...RATE)
const withGrant = async (scene: Scene) => {
  await withRate(scene)
  await scene.limiter.acquire(3)
}

export const LIMITER: Case[] = [
  row('rate-limiter/acquire', 'enough', withRate, ({ limiter }) => limiter.acquire(2)),
  row('rate-limiter/acquire', 'too few', withGrant, ({ limiter }) => limiter.tryAcquire(3)),
  row('rate-limiter/release', 'some', withGrant, ({ limiter }) => limiter.release(1)),
  row('rate-limiter/set-rate', 'not set', undefined, withRate),
  row('rate-limiter/set-rate', 'not set, and deleted then', undefined, withRate, {
    afterwards: ({ limiter }) => limiter.delete(),
  }),
  row(
    'rate-limiter/set-rate',
    'set, and used then',
    withGrant,
    ({ limiter }) => limiter.setRate(RateType.OVERALL, 9, 60_000),
    { afterwards: ({ limiter }) => limiter.acquire(4) },
  ),
  row('rate-limiter/set-rate', 'its grants stay', withGrant, ({ limiter }) =>
    limiter.updateRate(RateType.OVERALL, 9, 60_000, { keepState: true }),
  ),
  row('rate-limiter/available-permits', 'some', withGrant, ({ limiter }) => limiter.availablePermits()),
  row('rate-limiter/get-config', 'set', withRate, async ({ limiter }) => (await limiter.getConfig())?.rate),
  row('rate-limiter/delete', 'set, and set anew', withGrant, ({ limiter }) => limiter.delete(), {
    afterwards: ({ limiter }) => limiter.trySetRate(...RATE),
  }),
]
