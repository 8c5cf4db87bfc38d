import {
  type AcquireArguments,
  describe,
  lockArguments,
  optionsReader,
  refuseAfterOptions,
  tryLockArguments,
  wholeNumber,
} from '../../api/arguments'
import type {
  AcquirePermitOptions,
  LeasedPermitsOptions,
  TryAcquirePermitOptions,
  WithPermitOptions,
} from '../../api/call-options'
import { TimeUnit } from '../../api/time-unit'
import { quote } from '../../util/quote'

export interface LeasedPermitsWanted extends Omit<AcquireArguments, 'threadId' | 'maxHoldTime'> {
  readonly permits: number
  /** Whether the caller asked for a list. */
  readonly many: boolean
}

/** The most that one script call takes. */
const MAX_PERMITS = 1_000

const LEASED = ['permits', 'leaseTime', 'waitTime', 'signal'] as const
const acquireOptions = optionsReader<LeasedPermitsOptions>(LEASED)
const tryOptions = optionsReader<LeasedPermitsOptions>(LEASED, 0)
/** `acquirePermit({ … })`. */
export const acquirePermitOptions = optionsReader<AcquirePermitOptions>([
  'leaseTime',
  'maxHoldTime',
  'signal',
])
/** `tryAcquirePermit({ … })`. */
export const tryPermitOptions = optionsReader<TryAcquirePermitOptions>(
  ['waitTime', 'leaseTime', 'maxHoldTime', 'signal'],
  0,
)
/** `withPermit(fn, { … })`. */
export const withPermitOptions = optionsReader<WithPermitOptions>([
  'waitTime',
  'leaseTime',
  'maxHoldTime',
  'signal',
])

/** `acquire()`, `acquire(lease, unit)`, `acquire({ … })`. */
export function acquireLeasedArguments(
  first?: number | LeasedPermitsOptions,
  unit?: TimeUnit,
): LeasedPermitsWanted {
  if (typeof first === 'object') {
    refuseAfterOptions(unit)
    return wanted(acquireOptions(first), first)
  }
  needUnit('acquire(leaseTime, unit)', first, unit)
  return wanted(lockArguments(first, unit))
}

/** `tryAcquire()`, `tryAcquire(wait, unit)`, `tryAcquire(wait, lease, unit)`, `tryAcquire({ … })`. */
export function tryAcquireLeasedArguments(
  first?: number | LeasedPermitsOptions,
  second?: number | TimeUnit,
  third?: TimeUnit,
): LeasedPermitsWanted {
  if (typeof first === 'object') {
    refuseAfterOptions(second, third)
    return wanted(tryOptions(first), first)
  }
  needUnit('tryAcquire(waitTime, leaseTime, unit)', first, second instanceof TimeUnit ? second : third)
  return wanted(tryLockArguments(first, second, third))
}

function wanted(
  { leaseTime, waitTime, signal }: AcquireArguments,
  options?: LeasedPermitsOptions,
): LeasedPermitsWanted {
  const permits = options === undefined ? 1 : wholeNumber('permits', options.permits, 1, MAX_PERMITS)
  return { permits, many: options !== undefined, leaseTime, waitTime, signal }
}

/**
 * One number is a count of permits in Java, and would be a time here. The call refuses it, and does not
 * guess.
 */
function needUnit(call: string, time: number | undefined, unit: TimeUnit | undefined) {
  if (time === undefined) return
  if (typeof time !== 'number') throw new TypeError(`${call}: a time must be a number, got ${describe(time)}`)
  if (!(unit instanceof TimeUnit))
    throw new TypeError(`${call} needs a TimeUnit. For several permits: { permits: ${time} }`)
}

export function permitId(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError(`a permit's id must be a string, got ${describe(value)}`)
  if (!/^[0-9a-f]{32}$/i.test(value))
    throw new TypeError(`a permit's id has 32 hexadecimal digits, got ${quote(value)}`)
  return value.toLowerCase()
}

/** Checks a list of ids; the result has each of them once. */
export function permitIds(values: readonly string[]): string[] {
  const ids = [...new Set(values.map(permitId))]
  if (ids.length === 0 || ids.length > MAX_PERMITS)
    throw new RangeError(`expected 1 to ${MAX_PERMITS} ids, got ${ids.length}`)
  return ids
}
