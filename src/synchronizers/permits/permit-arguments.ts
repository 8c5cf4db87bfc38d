import { argumentsReader, describe, type PermitsWanted, wholeNumber } from '../../api/arguments'
import type {
  AcquirePermitOptions,
  LeasedPermitsOptions,
  TryAcquirePermitOptions,
  WithPermitOptions,
} from '../../api/call-options'
import { TimeUnit } from '../../api/time-unit'
import { quote } from '../../util/quote'

/** The most that one script call takes. */
const MAX_PERMITS = 1_000

const LEASED = ['permits', 'leaseTime', 'waitTime', 'signal'] as const
const PERMIT = ['leaseTime', 'maxHoldTime', 'signal'] as const
const TRY_PERMIT = ['waitTime', ...PERMIT] as const
/** `acquirePermit({ … })`. */
export const acquirePermitOptions = argumentsReader<AcquirePermitOptions>(PERMIT)
/** `tryAcquirePermit({ … })`. */
export const tryPermitOptions = argumentsReader<TryAcquirePermitOptions>(TRY_PERMIT, [], 0)
/** `withPermit(fn, { … })`. */
export const withPermitOptions = argumentsReader<WithPermitOptions>(TRY_PERMIT)

/**
 * One number is a count of permits in Java, and would be a time here. The call refuses it, and does not
 * guess.
 */
function leasedReader(call: string, order: readonly ('waitTime' | 'leaseTime')[], defaultWait?: number) {
  const read = argumentsReader<LeasedPermitsOptions>(LEASED, order, defaultWait)
  return (...given: Parameters<typeof read>): PermitsWanted => {
    const [first] = given
    if (typeof first === 'number' && !given.some((argument) => argument instanceof TimeUnit))
      throw new TypeError(`${call} needs a TimeUnit. For several permits: { permits: ${first} }`)
    const asked = read(...given)
    if (typeof first !== 'object') return asked
    return { ...asked, permits: wholeNumber('permits', first.permits, 1, MAX_PERMITS) }
  }
}

/** `acquire()`, `acquire(lease, unit)`, `acquire({ … })`. */
export const acquireLeasedArguments = leasedReader('acquire(leaseTime, unit)', ['leaseTime'])
/** `tryAcquire()`, `tryAcquire(wait, unit)`, `tryAcquire(wait, lease, unit)`, `tryAcquire({ … })`. */
export const tryAcquireLeasedArguments = leasedReader(
  'tryAcquire(waitTime, leaseTime, unit)',
  ['waitTime', 'leaseTime'],
  0,
)

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
