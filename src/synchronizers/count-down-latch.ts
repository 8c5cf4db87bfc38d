import { inspect } from 'node:util'
import calculateSlot from 'cluster-key-slot'
import { describe, type WaitOptions, waitArguments } from '../api/arguments'
import type { TimeUnit } from '../api/time-unit'
import type { Context } from '../client/context'
import { script } from '../scripts/script'
import type { Reply } from '../scripts/script-call'
import { quote } from '../util/quote'
import { type Attempt, blocked, GRANTED, type Outcome } from '../waiting/attempt'
import { OPEN_TO_ALL, untilRecheck, type WaitPolicy } from '../waiting/wait-policy'
import type { WaitTarget } from '../waiting/wait-target'
import { RequestRecord } from './request-record'

/**
 * Redisson's RCountDownLatch: callers wait until a count has reached zero, in any process, in Java too.
 *
 * A latch has no owner and no lease. Where a process dies before its `countDown()`, the others wait for ever: give
 * `await` a wait or a signal. A latch that was never set, or was deleted, is open. Each call takes effect exactly
 * once, also when its connection breaks: a record of the requests under way is kept beside the latch for a minute.
 *
 * **Different from Java.** `delete()` lets the waiters go, Java's too (Java's own leaves them asleep); `await` takes a
 * signal; a count below 1 is a RangeError (Java's latch could never be counted down).
 *
 * **Errors.** As RLock's: RedissonShutdownError, RedisUnavailableError, RedisRefusedError, WrongTypeError where the key
 * holds no count, TypeError and RangeError for bad arguments.
 */
export interface RCountDownLatch {
  /** The name given to `getCountDownLatch`. */
  getName(): string
  /** Sets the count, 1 or more, where there is none; resolves with whether it was set. */
  trySetCount(count: number): Promise<boolean>
  /** The count; 0 where the latch is open. Asks the primary. */
  getCount(): Promise<number>
  /**
   * Counts down by one; at zero every waiter goes on. Does nothing where the latch is open. Where it rejects with
   * RedisUnavailableError it goes on being tried in the background: do not repeat it.
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
  /** Deletes the latch and lets its waiters go; resolves with whether there was one. */
  delete(): Promise<boolean>
}

/** What a latch answers to a change. */
interface Change {
  readonly done: boolean
  readonly isRefused: boolean
}

const COUNT_DOWN = script(
  'count-down-latch/count-down',
  (raw): Change => ({ done: true, isRefused: raw === 1 }),
)
const TRY_SET_COUNT = script('count-down-latch/try-set-count', decodeChange)
const DELETE = script('count-down-latch/delete', decodeChange)
const GET_COUNT = script('count-down-latch/get-count', Number)
const LOOK = script('count-down-latch/get-count', decodeLook)

function decodeChange(raw: unknown): Change {
  return { done: raw !== 0, isRefused: raw === 2 }
}

function decodeLook(raw: unknown): Outcome<undefined> {
  return Number(raw) > 0 ? blocked(untilRecheck()) : GRANTED
}

/** A `0` that was published while a caller waits is its answer, though the count may have been set anew by then. */
const OPENED_BY_ZERO: WaitPolicy = { ...OPEN_TO_ALL, grantedBy: '0' }

/** See the interface. */
export class CountDownLatch implements RCountDownLatch {
  private readonly target: WaitTarget
  private readonly keys: readonly string[]
  private readonly requests: RequestRecord

  constructor(
    private readonly context: Context,
    private readonly name: string,
    key: string,
  ) {
    // Always with braces of its own, as Redisson names it.
    const channel = `redisson_countdownlatch__channel__{${key}}`
    if (context.isCluster && calculateSlot(channel) !== calculateSlot(key))
      throw new TypeError(
        `the name ${quote(name)} cannot be used for a latch in a cluster: Redisson puts braces around it in the name of ` +
          'the channel, which then falls into another slot (Java fails there with CROSSSLOT). Use a name without braces',
      )
    const lockId = `latch ${key}`
    // Between the nodes of a cluster an unsharded message may be late by any time: it only says that it is time to
    // look.
    const isOrdered = !context.isCluster || context.publishCommand === 'spublish'
    const policy = isOrdered ? OPENED_BY_ZERO : OPEN_TO_ALL
    this.target = { lockId, key, lockIds: [lockId], channel, policy }
    this.keys = [key]
    this.requests = new RequestRecord(context, this.keys)
  }

  getName(): string {
    return this.name
  }

  async trySetCount(count: number): Promise<boolean> {
    if (typeof count !== 'number') throw new TypeError(`count must be a number, got ${describe(count)}`)
    if (!Number.isSafeInteger(count) || count < 1)
      throw new RangeError(`count must be a whole number, 1 or more; got ${count}`)
    this.context.assertOpen()
    const { channel } = this.target
    return this.changed(await this.requests.run(TRY_SET_COUNT, [count, channel, this.context.publishCommand]))
  }

  async getCount(): Promise<number> {
    this.context.assertNotClosed()
    return (await this.context.scripts.run(GET_COUNT, this.keys, []).answer).value
  }

  async countDown(): Promise<void> {
    this.context.assertOpen()
    this.changed(await this.requests.insist(COUNT_DOWN, [this.target.channel, this.context.publishCommand]))
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
      send: () => this.context.scripts.run(LOOK, this.keys, []),
    }
    const reply = await this.context.queues.acquire(this.target, attempt)
    return first === undefined ? undefined : reply !== undefined
  }

  async delete(): Promise<boolean> {
    this.context.assertOpen()
    return this.changed(await this.requests.run(DELETE, [this.target.channel, this.context.publishCommand]))
  }

  private changed({ value: { done, isRefused } }: Reply<Change>): boolean {
    const { context, name, target } = this
    context.unpublishedReleases.released(
      { name, channel: target.channel },
      { result: 'freed', notified: isRefused ? undefined : 0 },
      'latch',
    )
    // Waiters of this client hear the message like all others, unless there was none.
    if (isRefused) context.queues.mayBeFree(target)
    return done
  }

  // Logged, it must not show the client inside with its credentials.
  [inspect.custom](): string {
    return `RCountDownLatch(${quote(this.name)})`
  }

  toJSON(): object {
    return { name: this.name }
  }
}
