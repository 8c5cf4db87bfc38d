import { RateType } from '../../../src/index'
import type { Case, Scene } from './synchronizer-case'

/** A limiter has another type of key than a semaphore and a latch, in the same slot. */
export const limiterName = (name: string) => `{${name}}:rate`

const RATE = [RateType.OVERALL, 5, 60_000] as const
const withRate = ({ limiter }: Scene) => limiter.trySetRate(...RATE)
const withGrant = async (scene: Scene) => {
  await withRate(scene)
  await scene.limiter.acquire(3)
}

export const LIMITER: Case[] = [
  {
    script: 'rate-limiter/acquire',
    state: 'enough',
    arrange: withRate,
    act: ({ limiter }) => limiter.acquire(2),
  },
  {
    script: 'rate-limiter/acquire',
    state: 'too few',
    arrange: withGrant,
    act: ({ limiter }) => limiter.tryAcquire(3),
  },
  {
    script: 'rate-limiter/release',
    state: 'some',
    arrange: withGrant,
    act: ({ limiter }) => limiter.release(1),
  },
  { script: 'rate-limiter/try-set-rate', state: 'not set', act: withRate },
  {
    script: 'rate-limiter/try-set-rate',
    state: 'not set, and deleted then',
    act: withRate,
    afterwards: ({ limiter }) => limiter.delete(),
  },
  {
    script: 'rate-limiter/set-rate',
    state: 'set, and used then',
    arrange: withGrant,
    act: ({ limiter }) => limiter.setRate(RateType.OVERALL, 9, 60_000),
    afterwards: ({ limiter }) => limiter.acquire(4),
  },
  {
    script: 'rate-limiter/set-rate',
    state: 'its grants stay',
    arrange: withGrant,
    act: ({ limiter }) => limiter.updateRate(RateType.OVERALL, 9, 60_000, { keepState: true }),
  },
  {
    script: 'rate-limiter/available-permits',
    state: 'some',
    arrange: withGrant,
    act: ({ limiter }) => limiter.availablePermits(),
  },
  {
    script: 'rate-limiter/get-config',
    state: 'set',
    arrange: withRate,
    act: async ({ limiter }) => (await limiter.getConfig())?.rate,
  },
  {
    script: 'rate-limiter/delete',
    state: 'set, and set anew',
    arrange: withGrant,
    act: ({ limiter }) => limiter.delete(),
    afterwards: ({ limiter }) => limiter.trySetRate(...RATE),
  },
]
