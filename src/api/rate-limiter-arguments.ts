import { checkOptions, describe, refuseAfter, wholeNumber } from './arguments'
import type { UpdateRateOptions } from './call-options'
import { TimeUnit } from './time-unit'

/**
 * Whether a rate holds for all clients together, or for each of them alone. Redisson's RateType.
 */
export const RateType = {
  /** One rate for all clients together. */
  OVERALL: 'OVERALL',
  /** The rate holds for each client alone. */
  PER_CLIENT: 'PER_CLIENT',
} as const
export type RateType = (typeof RateType)[keyof typeof RateType]

/** In the order of their numbers in Redis. */
export const RATE_TYPES = Object.values(RateType)

/** A rate as Redis keeps it: numbers, with the times in ms. */
export type RateArguments = readonly [rate: number, interval: number, type: number, keepAliveTime: number]

/** `(type, rate, interval, unit?, { … }?)`. The unit may be left out. */
export type RateParameters = [
  type: RateType,
  rate: number,
  interval: number,
  unitOrOptions?: TimeUnit | UpdateRateOptions,
  options?: UpdateRateOptions,
]

export function rateArguments(parameters: RateParameters): readonly [RateArguments, UpdateRateOptions] {
  const [type, rate, interval, unitOrOptions, options] = parameters
  const hasUnit = unitOrOptions instanceof TimeUnit
  const unit = hasUnit ? unitOrOptions : TimeUnit.MILLISECONDS
  if (!hasUnit && unitOrOptions !== undefined) refuseAfter('options, whose times are in ms', options)
  const given = (hasUnit ? options : (unitOrOptions ?? options)) ?? {}
  checkOptions(given, ['keepAliveTime', 'keepState'])
  const number = RATE_TYPES.indexOf(type)
  if (number < 0)
    throw new TypeError(
      `the type must be ${RATE_TYPES.join(' or ')}, got ${typeof type === 'string' ? type : describe(type)}`,
    )
  const most = Number.MAX_SAFE_INTEGER
  const millis = typeof interval === 'number' ? Math.ceil(unit.toMillis(interval)) : interval
  const checked = [wholeNumber('rate', rate, 1, most), wholeNumber('interval', millis, 1, most)] as const
  const { keepAliveTime = 0 } = given
  if (keepAliveTime !== 0) wholeNumber('keepAliveTime', keepAliveTime, checked[1], most)
  return [[...checked, number, keepAliveTime], given]
}
