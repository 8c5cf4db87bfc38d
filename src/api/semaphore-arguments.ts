import {
  type AcquireArguments,
  optionsReader,
  refuseAfterOptions,
  waitArguments,
  wholeNumber,
} from './arguments'
import type { AcquirePermitsOptions, TryAcquirePermitsOptions, WithPermitsOptions } from './call-options'
import { TimeUnit } from './time-unit'

export interface PermitsWanted extends Pick<AcquireArguments, 'waitTime' | 'signal'> {
  readonly permits: number
}

/** Java reads a count as an int. */
const MAX_COUNT = 2 ** 31 - 1

/** Checks a number of permits: a whole number from `least` to the greatest that Java can read. */
export function count(permits: unknown, least: number): number {
  return wholeNumber('permits', permits, least, MAX_COUNT)
}

const acquireOptions = optionsReader<AcquirePermitsOptions>(['permits', 'signal'])
const tryOptions = optionsReader<TryAcquirePermitsOptions>(['permits', 'waitTime', 'signal'], 0)
const withPermitsOptions = optionsReader<WithPermitsOptions>(['permits', 'waitTime', 'signal'])

/** `acquire(permits?)`, `acquire({ … })`. */
export function acquirePermitsArguments(first?: number | AcquirePermitsOptions): PermitsWanted {
  if (typeof first !== 'object') return wanted(acquireOptions(), first)
  return wanted(acquireOptions(first), first.permits)
}

/** `tryAcquire(permits?, waitTime?, unit?)`, `tryAcquire({ … })`. */
export function tryAcquirePermitsArguments(
  first?: number | TryAcquirePermitsOptions,
  waitTime?: number,
  unit?: TimeUnit,
  least = 0,
): PermitsWanted {
  if (typeof first !== 'object') {
    const unitInPlaceOfTime: unknown = waitTime
    if (typeof first === 'number' && unitInPlaceOfTime instanceof TimeUnit)
      throw new TypeError(
        `the count of permits comes first: write tryAcquire(1, ${first}, TimeUnit.${unitInPlaceOfTime.name})`,
      )
    return wanted(waitArguments(waitTime ?? 0, unit), first, least)
  }
  refuseAfterOptions(waitTime, unit)
  return wanted(tryOptions(first), first.permits, least)
}

/** `withPermits(fn, { … })`. */
export function withPermitsArguments(options?: WithPermitsOptions): PermitsWanted {
  return wanted(withPermitsOptions(options), options?.permits)
}

/** `least`: the least number of permits that may be asked for. */
export function wanted({ waitTime, signal }: AcquireArguments, permits: unknown, least = 0): PermitsWanted {
  return { permits: count(permits ?? 1, least), waitTime, signal }
}
