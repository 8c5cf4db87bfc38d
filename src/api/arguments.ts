import type {
  LockOptions,
  ReleaseOptions,
  TryLockOptions,
  UnlockOptions,
  WithLockOptions,
} from './call-options'
import { TimeUnit } from './time-unit'

/** Java reads a count as an int. */
const MAX_COUNT = 2 ** 31 - 1

/** What a call asks for. `permits` is 1 where it says nothing of them. */
export interface AcquireArguments {
  readonly leaseTime: number | undefined
  readonly maxHoldTime: number | undefined
  readonly waitTime: number | undefined
  readonly threadId: number | undefined
  readonly signal: AbortSignal | undefined
  readonly permits: number
}

/** What an acquisition of permits asks for. */
export type PermitsWanted = Pick<AcquireArguments, 'permits' | 'leaseTime' | 'waitTime' | 'signal'>

type Given = Partial<Record<keyof AcquireArguments, unknown>>

/**
 * Checks what the caller gave, by options or one after the other. `unit`: that of the times. All results are
 * made here and have one shape. A copy by spread is slow where V8 has given up the shape of its source.
 */
function checked(given: Given, unit: unknown, defaultWait?: number, leastPermits = 0): AcquireArguments {
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
    permits: permitCount(given.permits, leastPermits),
  }
}

/**
 * Returns a function that reads the arguments of a call. `known`: its options. `order`: what it takes in
 * place of options, one after the other; a unit may follow the times. `defaultWait` holds where it is given
 * no `waitTime`.
 */
export function argumentsReader<Options extends object>(
  known: readonly (keyof Options & string)[],
  order: readonly (keyof Options & string)[] = [],
  defaultWait?: number,
  leastPermits?: number,
) {
  const absent = checked({}, undefined, defaultWait)
  return (first?: number | Options, second?: number | TimeUnit, third?: TimeUnit): AcquireArguments => {
    if (first === undefined && second === undefined && third === undefined) return absent
    if (typeof first === 'object' || order.length === 0) {
      // They would be ignored silently: `lock({ leaseTime: 10 }, TimeUnit.SECONDS)`.
      refuseAfter('options, whose times are in ms', second ?? third)
      checkOptions(first, known)
      return checked(first as Given, undefined, defaultWait, leastPermits)
    }
    const given = [first, second, third]
    const unitAt = given.findIndex((argument) => argument instanceof TimeUnit)
    const values = given.slice(0, unitAt < 0 ? order.length : unitAt)
    const [unit, surplus] = given.slice(values.length)
    refuseAfter('the unit', surplus)
    if (unit instanceof TimeUnit && order[values.length - 1] === 'permits')
      throw new TypeError(
        `the count of permits comes first: write tryAcquire(1, ${first}, TimeUnit.${unit.name})`,
      )
    const named = Object.fromEntries(values.map((value, at) => [order[at], value]))
    return checked(named, unit, defaultWait, leastPermits)
  }
}

const LOCK = ['leaseTime', 'maxHoldTime', 'threadId', 'signal'] as const
const TRY_LOCK = ['waitTime', ...LOCK] as const
/** `acquire({ … })`. */
export const acquireOptions = argumentsReader<LockOptions>(LOCK)
/** `lock()`, `lock(lease, unit?)`, `lock({ … })`. */
export const lockArguments = argumentsReader<LockOptions>(LOCK, ['leaseTime'])
/** `tryAcquire({ … })`. */
export const tryOptions = argumentsReader<TryLockOptions>(TRY_LOCK, [], 0)
/** `tryLock()`, `tryLock(wait, unit?)`, `tryLock(wait, lease, unit?)`, `tryLock({ … })`. */
export const tryLockArguments = argumentsReader<TryLockOptions>(TRY_LOCK, ['waitTime', 'leaseTime'], 0)
/** `unlock({ … })`. */
export const unlockOptions = argumentsReader<UnlockOptions>(['threadId', 'signal'])
/** `hold.unlock({ … })`. */
export const releaseOptions = argumentsReader<ReleaseOptions>(['signal'])
const readWithLockOptions = argumentsReader<WithLockOptions>([
  'waitTime',
  'leaseTime',
  'maxHoldTime',
  'signal',
])

/** `withLock(fn, { … })`. */
export function withLockOptions(options?: WithLockOptions): AcquireArguments {
  if ((options as LockOptions | undefined)?.threadId !== undefined)
    throw new TypeError(
      'withLock() takes no threadId, because its function runs as a logical thread of its own: use ' +
        'redisson.run() for calls that are one owner, or lock() and unlock() with the threadId',
    )
  return readWithLockOptions(options)
}

export function refuseAfter(what: string, argument: unknown): void {
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

function inMillis(name: string, value: unknown, unit: unknown): number | undefined {
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
export function leaseTime(value: unknown, unit?: unknown, name = 'leaseTime'): number | undefined {
  const millis = inMillis(name, value, unit)
  if (millis === undefined || millis === -1) return undefined
  if (millis <= 0)
    throw new RangeError(`${name} must be more than 0 ms, or -1 as if it were absent; got ${millis}`)
  return millis
}

/** Infinity: without limit, also beside a client that has one. */
function waitTime(value: unknown, unit?: unknown, fallback?: number): number | undefined {
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

/** A number of permits, 1 by default: a whole number from `least` to the greatest that Java can read. */
export function permitCount(permits: unknown = 1, least = 0): number {
  return wholeNumber('permits', permits, least, MAX_COUNT)
}

/** A whole number from `least` to `most`. */
export function wholeNumber(name: string, value: unknown, least: number, most: number): number {
  const given = aNumber(name, value)
  if (!Number.isInteger(given) || given < least || given > most)
    throw new RangeError(`${name} must be a whole number from ${least} to ${most}, got ${given}`)
  return given
}

/** A time or a factor that an option gives: a number above 0. */
export function positive(name: string, value: unknown): number {
  const given = aNumber(name, value)
  if (!(given > 0 && given <= Number.MAX_SAFE_INTEGER))
    throw new RangeError(`${name} must be more than 0 and finite, got ${given}`)
  return given
}

/** Any number, NaN as well. */
export function aNumber(name: string, value: unknown): number {
  if (typeof value === 'number') return value
  throw new TypeError(`${name} must be a number, got ${describe(value)}`)
}

export function describe(value: unknown): string {
  if (value === null) return 'null'
  return typeof value === 'object' ? (value.constructor?.name ?? 'an object') : typeof value
}
