import { argumentsReader, type PermitsWanted, permitCount } from '../api/arguments'
import type {
  AcquireRateOptions,
  RateOptions,
  TryAcquirePermitsOptions,
  UpdateRateOptions,
} from '../api/call-options'
import { RATE_TYPES, type RateParameters, type RateType, rateArguments } from '../api/rate-limiter-arguments'
import type { TimeUnit } from '../api/time-unit'
import type { Client } from '../client/client'
import { prefixed, suffixed } from '../scripts/key-names'
import { script } from '../scripts/script'
import { shared } from '../waiting/admission'
import { notSet, RateLimiterAttempt } from './rate-limiter-attempt'
import { UNAVAILABLE } from './request-record'
import { change, enter, messagesOf, read, Synchronizer, waitIsOver } from './synchronizer'

/** How a rate limiter was set. */
export interface RateLimiterConfig {
  /** For whom the rate holds. */
  readonly type: RateType
  /** How many permits an interval has. */
  readonly rate: number
  /** The interval in ms. */
  readonly interval: number
  /** For how long Redis keeps the limiter after its last use, in ms; 0: for ever. */
  readonly keepAliveTime: number
}

/**
 * Redisson's RRateLimiter: at most `rate` permits in any interval, for all clients together or for each of
 * them, in Java too.
 *
 * Each permit comes back by itself, one interval after it was taken. Callers of one process are served first
 * come, first served. Only the first of them asks the server, when a permit is due. To limit how many calls
 * run at the same time, use a semaphore beside it.
 *
 * **Different from Java.** The scripts take the time of the server; those of Java take the time of their
 * client, so a Java client whose clock is wrong counts wrongly for all. A wait that ends or is aborted leaves
 * nothing taken. A call takes its permits once, also when its connection breaks. `release()`, `setRate()`,
 * `updateRate()` and `delete()` wake the waiters of this package; Java's do not. A rate or an interval below
 * 1 is a RangeError.
 *
 * **As in Java**, permits that were released come back a second time at the end of their interval; the rate
 * is their bound.
 *
 * **Errors.** As RLock's: RedissonShutdownError, RedisUnavailableError, RedisRefusedError, WrongTypeError
 * where the key holds something else, TypeError and RangeError for bad arguments. RateNotSetError
 * (`RATE_NOT_SET`) where the limiter has no rate. RangeError for more permits than the rate has.
 */
export interface RRateLimiter {
  /** The name given to `getRateLimiter`. */
  getName(): string

  /**
   * Sets the rate if the limiter has none; resolves with whether it did. `interval`: in ms unless a unit
   * follows.
   * @example
   * ```ts
   * import { RateType, TimeUnit } from 'rlock'
   * const limiter = redisson.getRateLimiter('mail')
   * await limiter.trySetRate(RateType.OVERALL, 100, 1, TimeUnit.MINUTES) // → true
   * await limiter.acquire()
   * await limiter.availablePermits() // → 99
   * ```
   */
  trySetRate(type: RateType, rate: number, interval: number, options?: RateOptions): Promise<boolean>
  /** The same with a unit for the interval. */
  trySetRate(
    type: RateType,
    rate: number,
    interval: number,
    unit: TimeUnit,
    options?: RateOptions,
  ): Promise<boolean>

  /**
   * Sets the rate, whether the limiter has one or not. All its permits are left then, unless `keepState` is
   * true.
   */
  setRate(type: RateType, rate: number, interval: number, options?: UpdateRateOptions): Promise<void>
  /** The same with a unit for the interval. */
  setRate(
    type: RateType,
    rate: number,
    interval: number,
    unit: TimeUnit,
    options?: UpdateRateOptions,
  ): Promise<void>

  /** Sets the rate if the limiter has one; resolves with whether it did. Otherwise as `setRate`. */
  updateRate(type: RateType, rate: number, interval: number, options?: UpdateRateOptions): Promise<boolean>
  /** The same with a unit for the interval. */
  updateRate(
    type: RateType,
    rate: number,
    interval: number,
    unit: TimeUnit,
    options?: UpdateRateOptions,
  ): Promise<boolean>

  /** How the limiter was set; undefined if it has no rate. */
  getConfig(): Promise<RateLimiterConfig | undefined>
  /** How many permits are left now. */
  availablePermits(): Promise<number>

  /** Takes this many permits, one by default, and waits until so many are left. */
  acquire(permits?: number): Promise<void>
  /**
   * The same with options. Rejects with the signal's reason when it aborts.
   * @throws {@link LockTimeoutError} when not enough permits were left within `waitTime`.
   */
  acquire(options: AcquireRateOptions): Promise<void>

  /**
   * Takes this many permits, all or none; resolves with whether it did. Waits for `waitTime` at most, in ms
   * unless a unit follows. Without a wait it resolves with false while other callers of this process wait for
   * permits.
   */
  tryAcquire(permits?: number, waitTime?: number, unit?: TimeUnit): Promise<boolean>
  /** The same with options. */
  tryAcquire(options: TryAcquirePermitsOptions): Promise<boolean>

  /**
   * Gives permits back before their interval has ended. If it rejects with RedisUnavailableError, the client
   * goes on to retry it in the background: do not repeat it.
   */
  release(permits: number): Promise<void>

  /** Deletes the limiter; resolves with whether it existed. Its waiters reject with RateNotSetError. */
  delete(): Promise<boolean>
}

const SET_RATE = script('rate-limiter/set-rate', Number)
/** When SET_RATE sets the rate. */
const [ALWAYS, ONLY_IF_SET, ONLY_IF_NOT_SET] = [0, 1, 2]
const GET_CONFIG = script('rate-limiter/get-config', decodeConfig)
const AVAILABLE_PERMITS = script('rate-limiter/available-permits', Number)
const RELEASE = script('rate-limiter/release', Number)
const DELETE = script('rate-limiter/delete', Number)

const NOT_SET = -1

const TAKES = ['permits', 'waitTime', 'signal'] as const
const acquireArguments = argumentsReader<AcquireRateOptions>(TAKES, ['permits'], undefined, 1)
const tryArguments = argumentsReader<TryAcquirePermitsOptions>(TAKES, ['permits', 'waitTime'], 0, 1)

function decodeConfig(raw: unknown): RateLimiterConfig | undefined {
  const [rate, interval, type, keepAliveTime] = (raw as string[]).map(Number)
  if (rate === undefined) return undefined
  return { type: RATE_TYPES[type!]!, rate, interval: interval!, keepAliveTime: keepAliveTime! }
}

const KIND = { kind: 'rate-limiter', what: 'rate limiter', interfaceName: 'RRateLimiter' } as const

/** The channel on which its scripts publish. Java has none. */
export function rateLimiterChannel(key: string): string {
  return prefixed('rlock_rate', key)
}

/** See the interface. */
export class RateLimiter extends Synchronizer implements RRateLimiter {
  constructor(client: Client, name: string, key: string) {
    const [left, grants] = [suffixed(key, 'value'), suffixed(key, 'permits')]
    const ofClient = [`${left}:${client.clientId}`, `${grants}:${client.clientId}`]
    super(client, name, KIND, [key, left, grants, ...ofClient], {
      channel: rateLimiterChannel(key),
      takesTurns: false,
      admission: shared,
    })
  }

  async trySetRate(...given: RateParameters): Promise<boolean> {
    return await setRate(this, given, ONLY_IF_NOT_SET)
  }

  async setRate(...given: RateParameters): Promise<void> {
    await setRate(this, given, ALWAYS)
  }

  async updateRate(...given: RateParameters): Promise<boolean> {
    return await setRate(this, given, ONLY_IF_SET)
  }

  async getConfig(): Promise<RateLimiterConfig | undefined> {
    const [key] = this.keys
    return (await this.client.scripts.run(GET_CONFIG, [key], []).answer).value
  }

  async availablePermits(): Promise<number> {
    return assertSet(this, await read(this, AVAILABLE_PERMITS))
  }

  async acquire(first?: number | AcquireRateOptions): Promise<void> {
    const wanted = acquireArguments(first)
    if (!(await take(this, wanted))) throw waitIsOver(this, wanted.waitTime)
  }

  async tryAcquire(...args: Parameters<typeof tryArguments>): Promise<boolean> {
    return await take(this, tryArguments(...args))
  }

  async release(permits: number): Promise<void> {
    const given = [permitCount(permits), ...messagesOf(this)]
    this.client.assertNotClosed()
    if (permits === 0) return
    const { value } = await this.requests.run(RELEASE, given, false, UNAVAILABLE)
    this.client.queues.changed(this.target, assertSet(this, value))
  }

  async delete(): Promise<boolean> {
    return await change(this, DELETE, [], false)
  }
}

async function setRate(limiter: RateLimiter, given: RateParameters, when: number): Promise<boolean> {
  const [values, { keepState }] = rateArguments(given)
  return await change(limiter, SET_RATE, [...values, when, keepState ? 1 : 0], false)
}

async function take(limiter: RateLimiter, wanted: PermitsWanted): Promise<boolean> {
  const attempt = new RateLimiterAttempt(limiter, wanted)
  const reply = await enter(limiter, attempt, wanted.waitTime)
  if (reply) attempt.assertGranted(reply.value.grant)
  return reply !== undefined
}

/** Returns the answer of a script, unless it says that the limiter has no rate. */
function assertSet(limiter: RateLimiter, answer: number): number {
  if (answer === NOT_SET) throw notSet(limiter)
  return answer
}
