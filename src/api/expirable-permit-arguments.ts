import { checkOptions, describe, lockArguments, waitArguments } from './arguments'
import { count } from './semaphore-arguments'
import { TimeUnit } from './time-unit'

/** Options of `acquire()` and `tryAcquire()` of a semaphore whose permits expire. */
export interface LeasedPermitsOptions {
  /** How many permits, 1 to 1000; the call takes all of them or none. */
  permits: number
  /** The lease of the permits in ms. Absent or -1: they stay taken until their release, even if this process dies. */
  leaseTime?: number | undefined
  /**
   * How long to wait at most, in ms; 0 or less: one try; absent: without limit (`acquire`) or one try (`tryAcquire`).
   */
  waitTime?: number | undefined
  /** Cancels the acquisition when it aborts. The call rejects with the signal's reason, and takes nothing. */
  signal?: AbortSignal | undefined
}

/** Options of `acquirePermit()`. */
export interface AcquirePermitOptions {
  /** The lease of the permit in ms. Absent or -1: until its release, and the watchdog renews the lease. */
  leaseTime?: number | undefined
  /** Cancels the acquisition when it aborts. The call rejects with the signal's reason, and takes nothing. */
  signal?: AbortSignal | undefined
}

/** Options of `tryAcquirePermit()`. */
export interface TryAcquirePermitOptions extends AcquirePermitOptions {
  /**
   * How long to wait at most, in ms; 0 or less: one try.
   * @default 0
   */
  waitTime?: number | undefined
}

/** Options of `withPermit()`. */
export interface WithPermitOptions extends AcquirePermitOptions {
  /** How long to wait at most, in ms; 0 or less: one try; absent: without limit. Then rejects with LockTimeoutError. */
  waitTime?: number | undefined
}

export interface LeasedPermitsWanted {
  readonly permits: number
  /** Whether the caller asked for a list. */
  readonly many: boolean
  readonly leaseTime: number | undefined
  readonly waitTime: number | undefined
  readonly signal: AbortSignal | undefined
}

/** The most that one script call takes. */
const MAX_PERMITS = 1_000

const ONE = { permits: 1, many: false, leaseTime: undefined, waitTime: undefined, signal: undefined }

/** `acquire()`, `acquire(lease, unit)`, `acquire({ … })`. */
export function acquireLeasedArguments(
  first?: number | LeasedPermitsOptions,
  unit?: TimeUnit,
): LeasedPermitsWanted {
  if (typeof first === 'object') return fromOptions(first, unit, undefined)
  needUnit('acquire(leaseTime, unit)', first, unit)
  return { ...ONE, leaseTime: lockArguments(first, unit).leaseTime }
}

/** `tryAcquire()`, `tryAcquire(wait, unit)`, `tryAcquire(wait, lease, unit)`, `tryAcquire({ … })`. */
export function tryAcquireLeasedArguments(
  first?: number | LeasedPermitsOptions,
  second?: number | TimeUnit,
  third?: TimeUnit,
): LeasedPermitsWanted {
  if (typeof first === 'object') return fromOptions(first, second ?? third, 0)
  const unit = second instanceof TimeUnit ? second : third
  const lease = second instanceof TimeUnit ? undefined : second
  if (second instanceof TimeUnit && third !== undefined)
    throw new TypeError(`nothing may follow the unit, got ${describe(third)}`)
  needUnit('tryAcquire(waitTime, leaseTime, unit)', first, unit)
  return {
    ...ONE,
    leaseTime: lockArguments(lease, unit).leaseTime,
    waitTime: waitArguments(first ?? 0, unit).waitTime,
  }
}

/** `acquirePermit({ … })`, `tryAcquirePermit({ … })`, `withPermit(fn, { … })`. */
export function permitOptions(
  options: WithPermitOptions = {},
  known: readonly string[],
  defaultWait: number | undefined,
): LeasedPermitsWanted {
  checkOptions(options, known)
  return { ...ONE, ...timesOf(options, defaultWait) }
}

function fromOptions(
  options: LeasedPermitsOptions,
  behind: unknown,
  defaultWait: number | undefined,
): LeasedPermitsWanted {
  if (behind !== undefined) throw new TypeError('nothing may follow options, whose times are in ms')
  checkOptions(options, ['permits', 'leaseTime', 'waitTime', 'signal'])
  const permits = count(options.permits, 'permits', 1)
  if (permits > MAX_PERMITS)
    throw new RangeError(`permits must be at most ${MAX_PERMITS} in one call, got ${permits}`)
  return { permits, many: true, ...timesOf(options, defaultWait) }
}

function timesOf({ leaseTime, waitTime, signal }: WithPermitOptions, defaultWait: number | undefined) {
  const wait = waitTime ?? defaultWait
  return {
    leaseTime: lockArguments({ leaseTime }).leaseTime,
    waitTime: waitArguments({ waitTime: wait, signal }).waitTime,
    signal,
  }
}

/** One number is a count of permits in Java, and would be a time here. The call refuses it, and does not guess. */
function needUnit(call: string, time: number | undefined, unit: TimeUnit | undefined) {
  if (time === undefined) return
  if (typeof time !== 'number') throw new TypeError(`${call}: a time must be a number, got ${describe(time)}`)
  if (!(unit instanceof TimeUnit))
    throw new TypeError(`${call} needs a TimeUnit. For several permits: { permits: ${time} }`)
}

/** Checks the id of a permit. */
export function permitId(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError(`a permit's id must be a string, got ${describe(value)}`)
  if (!/^[0-9a-f]{32}$/i.test(value))
    throw new TypeError(`a permit's id has 32 hexadecimal digits, got ${JSON.stringify(value.slice(0, 100))}`)
  return value.toLowerCase()
}

/** Checks a list of ids; the result has each of them once. */
export function permitIds(values: readonly string[]): string[] {
  const ids = [...new Set(values.map(permitId))]
  if (ids.length === 0 || ids.length > MAX_PERMITS)
    throw new RangeError(`expected 1 to ${MAX_PERMITS} ids, got ${ids.length}`)
  return ids
}
