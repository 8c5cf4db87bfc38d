import type {
  LockOptions,
  ReleaseOptions,
  TryLockOptions,
  UnlockOptions,
  WaitOptions,
  WithLockOptions,
} from './call-options'
import { TimeUnit } from './time-unit'

export interface AcquireArguments {
  readonly leaseTime: number | undefined
  readonly maxHoldTime: number | undefined
  readonly waitTime: number | undefined
  readonly threadId: number | undefined
  readonly signal: AbortSignal | undefined
}

/**
 * Checks what the caller gave, by options or one after the other. `unit`: that of the times. All results are
 * made here and have one shape. A copy by spread is slow where V8 has given up the shape of its source.
 */
function checked(given: TryLockOptions, unit?: TimeUnit, defaultWait?: number): AcquireArguments {
  const lease = leaseTime(given.leaseTime, unit)
  const maxHoldTime = leaseTime(given.maxHoldTime, undefined, 'maxHoldTime')
  if (lease !== undefined && maxHoldTime !== undefined)
    throw new TypeError('leaseTime and maxHoldTime exclude each other: a lease is not renewed')
  return {
    leaseTime: lease,
    maxHoldTime,
    waitTime: waitTime(given.waitTime, unit, defaultWait),
    threadId: threadId(given.threadId),
    signal: abortSignal(given.signal),
  }
}

/** `acquire({ … })`. */
export const acquireOptions = optionsReader<LockOptions>(['leaseTime', 'maxHoldTime', 'threadId', 'signal'])
/** `tryLock({ … })`, `tryAcquire({ … })`. */
export const tryOptions = optionsReader<TryLockOptions>(
  ['waitTime', 'leaseTime', 'maxHoldTime', 'threadId', 'signal'],
  0,
)
const readWithLockOptions = optionsReader<WithLockOptions>(['waitTime', 'leaseTime', 'maxHoldTime', 'signal'])
/** `unlock({ … })`. */
export const unlockOptions = optionsReader<UnlockOptions>(['threadId', 'signal'])
/** `hold.unlock({ … })`. */
export const releaseOptions = optionsReader<ReleaseOptions>(['signal'])
const waitOptions = optionsReader<WaitOptions>(['waitTime', 'signal'])

/** `lock()`, `lock(lease, unit?)`, `lock({ … })`. */
export function lockArguments(first?: number | LockOptions, unit?: TimeUnit): AcquireArguments {
  if (!isOptions(first)) return checked({ leaseTime: first }, unit)
  refuseAfterOptions(unit)
  return acquireOptions(first)
}

/** `tryLock()`, `tryLock(wait, unit?)`, `tryLock(wait, lease, unit?)`, `tryLock({ … })`. */
export function tryLockArguments(
  first?: number | TryLockOptions,
  second?: number | TimeUnit,
  third?: TimeUnit,
): AcquireArguments {
  if (isOptions(first)) {
    refuseAfterOptions(second, third)
    return tryOptions(first)
  }
  if (!(second instanceof TimeUnit)) return checked({ waitTime: first, leaseTime: second }, third, 0)
  refuseAfter('the unit', third)
  return checked({ waitTime: first }, second, 0)
}

/** `await()`, `await(wait, unit?)`, `await({ … })`. */
export function waitArguments(first?: number | WaitOptions, unit?: TimeUnit): AcquireArguments {
  if (!isOptions(first)) return checked({ waitTime: first }, unit)
  refuseAfterOptions(unit)
  return waitOptions(first)
}

/** `withLock(fn, { … })`. */
export function withLockOptions(options?: WithLockOptions): AcquireArguments {
  if ((options as LockOptions | undefined)?.threadId !== undefined)
    throw new TypeError(
      'withLock() takes no threadId, because its function runs as a logical thread of its own: use ' +
        'redisson.run() for calls that are one owner, or lock() and unlock() with the threadId',
    )
  return readWithLockOptions(options)
}

/**
 * Returns a function that checks options with these keys. `defaultWait` holds where they give no `waitTime`.
 */
export function optionsReader<Options extends object>(
  known: readonly (keyof Options & string)[],
  defaultWait?: number,
): (options?: Options) => AcquireArguments {
  const absent = checked({}, undefined, defaultWait)
  return (options) => {
    if (options === undefined) return absent
    checkOptions(options, known)
    return checked(options, undefined, defaultWait)
  }
}

function isOptions<T>(argument: number | T | undefined): argument is T {
  return argument !== undefined && typeof argument !== 'number'
}

/** Refuses arguments that would be ignored silently: `lock({ leaseTime: 10 }, TimeUnit.SECONDS)`. */
export function refuseAfterOptions(second: unknown, third?: unknown): void {
  refuseAfter('options, whose times are in ms', second === undefined ? third : second)
}

function refuseAfter(what: string, argument: unknown) {
  if (argument !== undefined) throw new TypeError(`nothing may follow ${what}; got ${describe(argument)}`)
}

/** Throws TypeError unless `options` is an object with no other keys than these. */
export function checkOptions(options: unknown, known: readonly string[]): void {
  // An array, a Map or an AbortSignal has no options of its own, and would be ignored silently.
  if (Object.prototype.toString.call(options) !== '[object Object]' || options instanceof TimeUnit)
    throw new TypeError(`expected an options object with ${known.join(', ')}, got ${describe(options)}`)
  const given = Object.keys(options as object)
  // A class may give a waitTime, which is no key of its objects. It would end an acquire() that then looks
  // successful.
  if ('waitTime' in (options as object)) given.push('waitTime')
  const unknown = given.find((key) => !known.includes(key))
  if (unknown !== undefined) throw new TypeError(`unknown option ${unknown}; known here: ${known.join(', ')}`)
}

function inMillis(name: string, value: unknown, unit: TimeUnit | undefined): number | undefined {
  if (unit !== undefined && !(unit instanceof TimeUnit))
    throw new TypeError(`the unit must be a TimeUnit, got ${describe(unit)}`)
  if (value === undefined) return undefined
  if (typeof value !== 'number')
    throw new TypeError(`${name} must be a number, and its unit a TimeUnit; got ${describe(value)}`)
  // -1 means "none" in every unit, as in Java.
  const millis = unit === undefined || value === -1 ? value : unit.toMillis(value)
  if (!Number.isFinite(millis) || millis > Number.MAX_SAFE_INTEGER)
    throw new RangeError(`${name} must be finite and at most ${Number.MAX_SAFE_INTEGER} ms, got ${value}`)
  return millis < 0 ? millis : Math.ceil(millis)
}

/** `name`: of the argument. A time to live is a lease, too. */
export function leaseTime(value: unknown, unit?: TimeUnit, name = 'leaseTime'): number | undefined {
  const millis = inMillis(name, value, unit)
  if (millis === undefined || millis === -1) return undefined
  if (millis <= 0)
    throw new RangeError(
      `${name} must be more than 0 ms, or -1 for ` +
        `${name === 'leaseTime' ? 'a lease renewed by the watchdog' : 'no value'}; got ${millis}`,
    )
  return millis
}

/** Infinity: without limit, also beside a client that has one. */
function waitTime(value: unknown, unit?: TimeUnit, fallback?: number): number | undefined {
  const isUnlimited = value === Number.POSITIVE_INFINITY
  const millis = inMillis('waitTime', isUnlimited ? 0 : value, unit)
  if (isUnlimited) return value
  return millis === undefined ? fallback : Math.max(millis, 0)
}

export function threadId(value: unknown): number | undefined {
  return value === undefined ? undefined : wholeNumber('threadId', value, 1, Number.MAX_SAFE_INTEGER)
}

function abortSignal(value: unknown): AbortSignal | undefined {
  if (value === undefined) return undefined
  if (value instanceof AbortSignal) return value
  throw new TypeError(`signal must be an AbortSignal, got ${describe(value)}`)
}

/** A whole number from `least` to `most`. */
export function wholeNumber(name: string, value: unknown, least: number, most: number): number {
  if (typeof value !== 'number') throw new TypeError(`${name} must be a number, got ${describe(value)}`)
  if (!Number.isInteger(value) || value < least || value > most)
    throw new RangeError(`${name} must be a whole number from ${least} to ${most}, got ${value}`)
  return value
}

/** A time or a factor that an option gives: a number above 0. */
export function positive(name: string, value: unknown): number {
  if (typeof value !== 'number') throw new TypeError(`${name} must be a number, got ${describe(value)}`)
  if (!(value > 0 && value <= Number.MAX_SAFE_INTEGER))
    throw new RangeError(`${name} must be more than 0 and finite, got ${value}`)
  return value
}

export function describe(value: unknown): string {
  if (value === null) return 'null'
  return typeof value === 'object' ? (value.constructor?.name ?? 'an object') : typeof value
}
