import { RateNotSetError } from '../../../src/api/errors'
import { RateType } from '../../../src/api/rate-limiter-arguments'
import type { SimulatedObject } from '../judge/history'
import { abortAfter, operation, repeat } from '../operation'
import type { Caller, Scene } from '../scene'

/** One caller takes permits in one of all ways. */
async function rateStep(
  caller: Caller,
  object: SimulatedObject,
  rate: number,
  interval: number,
): Promise<void> {
  const { choices, redisson, recorder } = caller
  const limiter = redisson.getRateLimiter(object.name)
  const owner = `${caller.name}.${caller.count()}`
  const permits = Math.min(rate, [1, 2, 3][choices.weigh([6, 2, 1])]!)
  const wait = [20 * interval, 0, interval, 5][choices.weigh([5, 2, 2, 1])]!
  recorder.sections++
  const told = (ok: boolean | undefined) => ({ ok: ok !== false })
  /** A server that lost its data has lost the limiter, too. */
  const orSet = async (take: () => Promise<boolean | undefined>) => {
    try {
      return await take()
    } catch (error) {
      if (!(error instanceof RateNotSetError)) throw error
      await limiter.trySetRate(RateType.OVERALL, rate, interval)
      return false
    }
  }
  const asked = { object, operation: 'await', units: permits, wait } as const
  const aborts = choices.happens(0.15)
  const signal = aborts ? abortAfter(caller, choices.pick([0, 1, 20, interval])) : undefined
  const take = () =>
    aborts
      ? (limiter.acquire({ permits, signal: signal! }) as Promise<undefined>)
      : limiter.tryAcquire({ permits, waitTime: wait })
  await operation(caller, owner, asked, () => orSet(take), told)
}

export const rateLimiter: Scene = {
  name: 'rate-limiter',
  about: 'a rate limiter whose callers want several permits, wait and abort',
  setUp(choices) {
    const object = { kind: 'rate-limiter', name: 'rate' } as const
    const rate = choices.pick([2, 1, 3, 8])
    const interval = choices.pick([50, 20, 200])
    return {
      objects: [object],
      async begin({ redisson }) {
        await redisson.getRateLimiter(object.name).trySetRate(RateType.OVERALL, rate, interval)
      },
      caller(caller) {
        return repeat(caller, caller.settings.sections, () => rateStep(caller, object, rate, interval))
      },
    }
  },
}
