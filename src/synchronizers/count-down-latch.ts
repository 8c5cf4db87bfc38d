import calculateSlot from 'cluster-key-slot'
import { describe, type WaitOptions, waitArguments } from '../api/arguments'
import type { TimeUnit } from '../api/time-unit'
import type { Context } from '../client/context'
import { latchChannel, prefixed } from '../redis/names'
import { script } from '../scripts/script'
import { quote } from '../util/quote'
import { type Attempt, blocked, GRANTED, type Outcome } from '../waiting/attempt'
import { OPEN_TO_ALL, untilRecheck, type WaitPolicy } from '../waiting/wait-policy'
import { Synchronizer } from './synchronizer'

/**
 * Redisson's RCountDownLatch: callers wait until a count is zero, in any process, in Java too.
 *
 * A latch has no owner and no lease. If a process dies before its `countDown()`, the waiters wait for ever: give `await` a
 * wait or a signal. A latch that was never set, or was deleted, is open. Each call takes effect exactly once, also when its
 * connection breaks. For that the server keeps a record of the open requests beside the latch, for a minute.
 *
 * **Different from Java.** `delete()` wakes all waiters, also those of Java (Java's own `delete()` does not). `await` takes a
 * signal. A count below 1 is a RangeError (in Java nothing could count such a latch down).
 *
 * **Errors.** As RLock's: RedissonShutdownError, RedisUnavailableError, RedisRefusedError, WrongTypeError if the key holds no
 * count, TypeError and RangeError for bad arguments.
 */
export interface RCountDownLatch {
  /** The name given to `getCountDownLatch`. */
  getName(): string
  /** Sets the count, 1 or more, if the latch has none; resolves with whether it did. */
  trySetCount(count: number): Promise<boolean>
  /** The count; 0 if the latch is open. Asks the primary. */
  getCount(): Promise<number>
  /**
   * Counts down by one; at zero every waiter goes on. Does nothing if the latch is open. If it rejects with
   * RedisUnavailableError, the client goes on to retry it in the background: do not repeat it.
   */
  countDown(): Promise<void>
  /** Waits until the count is zero. */
  await(): Promise<void>
  /**
   * Waits for at most `waitTime`, in ms unless a unit follows; resolves with whether the count has reached zero.
   * @example
   * ```ts
   * const latch = redisson.getCountDownLatch('imports')
   * await latch.trySetCount(2) // → true
   * await latch.await(10) // → false
   * ```
   */
  await(waitTime: number, unit?: TimeUnit): Promise<boolean>
  /** The same with options. Rejects with the signal's reason when it aborts. */
  await(options: WaitOptions): Promise<boolean>
  /** Deletes the latch and wakes its waiters; resolves with whether the latch existed. */
  delete(): Promise<boolean>
}

const COUNT_DOWN = script('count-down-latch/count-down', Number)
const TRY_SET_COUNT = script('count-down-latch/try-set-count', Number)
const DELETE = script('count-down-latch/delete', Number)
const GET_COUNT = script('count-down-latch/get-count', (raw) => (raw as LatchState)[0])
const CHECK = script('count-down-latch/get-count', decodeCheck)

/** The count, the moment of the last opening, and how many µs ago that was. See lua/count-down-latch/get-count.lua. */
type LatchState = readonly [count: number, opened: string, ago: number]

function decodeCheck(raw: unknown): Outcome<undefined> {
  const [count, id, ago] = raw as LatchState
  return count > 0 ? { ...blocked(untilRecheck()), opening: { id, ago: ago / 1000 } } : GRANTED
}

/** A message `0` that is published while a caller waits grants its wait, even if the count was set again since. */
const OPENED_BY_ZERO: WaitPolicy = { ...OPEN_TO_ALL, grantedBy: '0' }

/** See the interface. */
export class CountDownLatch extends Synchronizer implements RCountDownLatch {
  constructor(context: Context, name: string, key: string) {
    const channel = latchChannel(key)
    if (context.isCluster && calculateSlot(channel) !== calculateSlot(key))
      throw new TypeError(
        `the name ${quote(name)} cannot be used for a latch in a cluster: Redisson puts braces around it in the name of ` +
          'the channel, which then falls into another slot (Java fails there with CROSSSLOT). Use a name without braces',
      )
    // Between the nodes of a cluster an unsharded message may be late by any time. So it only wakes the waiters, and does
    // not grant their wait.
    const isOrdered = !context.isCluster || context.publishCommand === 'spublish'
    const policy = isOrdered ? OPENED_BY_ZERO : OPEN_TO_ALL
    super(context, name, 'latch', [key, `${prefixed('rlock_requests', key)}:opened`], channel, policy)
  }

  async trySetCount(count: number): Promise<boolean> {
    if (typeof count !== 'number') throw new TypeError(`count must be a number, got ${describe(count)}`)
    if (!Number.isSafeInteger(count) || count < 1)
      throw new RangeError(`count must be a whole number, 1 or more; got ${count}`)
    return await this.change(TRY_SET_COUNT, [count], false)
  }

  async getCount(): Promise<number> {
    return await this.read(GET_COUNT)
  }

  async countDown(): Promise<void> {
    this.context.assertOpen()
    const { value } = await this.requests.insist(COUNT_DOWN, this.messages)
    this.changed(value)
  }

  // biome-ignore lint/suspicious/noExplicitAny: void without arguments, a boolean with them, as the interface says.
  async await(first?: number | WaitOptions, unit?: TimeUnit): Promise<any> {
    const { waitTime, signal } = waitArguments(first, unit)
    this.context.assertOpen()
    signal?.throwIfAborted()
    const attempt: Attempt<undefined> = {
      waitTime,
      signal,
      lease: 0,
      subject: `the latch ${quote(this.name)}`,
      send: () => this.context.scripts.run(CHECK, this.keys, []),
    }
    const reply = await this.context.queues.acquire(this.target, attempt)
    return first === undefined ? undefined : reply !== undefined
  }

  async delete(): Promise<boolean> {
    return await this.change(DELETE, [], false)
  }
}
