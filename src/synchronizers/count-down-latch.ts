import calculateSlot from 'cluster-key-slot'
import { argumentsReader, wholeNumber } from '../api/arguments'
import type { WaitOptions } from '../api/call-options'
import type { TimeUnit } from '../api/time-unit'
import type { Client } from '../client/client'
import { script } from '../scripts/script'
import { quote } from '../util/quote'
import { type Next, queueBeside, Shared, type TryReply } from '../waiting/admission'
import { type Attempt, GRANTED, type Outcome } from '../waiting/attempt'
import type { AnyWaiter } from '../waiting/waiter'
import { UNAVAILABLE } from './request-record'
import { change, enter, read, Synchronizer, untilRecheck } from './synchronizer'

/**
 * Redisson's RCountDownLatch: callers wait until a count is zero, in any process, in Java too.
 *
 * A latch has no owner and no lease. If a process dies before its `countDown()`, the waiters wait for ever:
 * give `await` a wait or a signal. A latch that was never set, or was deleted, is open. Each call takes
 * effect exactly once, also when its connection breaks. For that the server keeps a record of the open
 * requests beside the latch, for a minute.
 *
 * A latch that is set anew before a waiter looked keeps it waiting, as Java's does.
 *
 * **Different from Java.** `delete()` wakes all waiters, also those of Java (Java's own `delete()` does not).
 * `await` takes a signal. A count below 1 is a RangeError (in Java nothing could count such a latch down).
 *
 * **Errors.** As RLock's: RedissonShutdownError, RedisUnavailableError, RedisRefusedError, WrongTypeError if
 * the key holds no count, TypeError and RangeError for bad arguments.
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
   * Waits for at most `waitTime`, in ms unless a unit follows; resolves with whether the count has reached
   * zero.
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

/** How the name of its channel begins. It is the only kind of channel to which Redisson adds no colon. */
export const LATCH_CHANNEL = 'redisson_countdownlatch__channel__'

/** The channel on which a latch publishes. Redisson always adds braces to this name. */
export function latchChannel(key: string): string {
  return `${LATCH_CHANNEL}{${key}}`
}

const GET_COUNT = script('count-down-latch/get-count', Number)
const LOOK = script(
  'count-down-latch/get-count',
  (raw): Outcome<undefined> => (Number(raw) > 0 ? { granted: false, blockedFor: untilRecheck() } : GRANTED),
)
const COUNT_DOWN = script('count-down-latch/count-down', Number)
const TRY_SET_COUNT = script('count-down-latch/try-set-count', Number)
const DELETE = script('count-down-latch/delete', Number)

const waitArguments = argumentsReader<WaitOptions>(['waitTime', 'signal'], ['waitTime'])

const KIND = { kind: 'latch', what: 'latch', interfaceName: 'RCountDownLatch' } as const

/**
 * An open latch lets all callers go that came before the first waiter looked. A message only makes it look:
 * channels belong to the server, so the message may be of a latch with this name in another database.
 */
class OpenToAll extends Shared {
  override next({ value, sent }: TryReply, _: Attempt<unknown>, waiters: Iterable<AnyWaiter>): Next {
    if (!value.granted) return { sleepFor: value.blockedFor }
    for (const waiter of [...waiters]) if (waiter.joined.monotonic <= sent.monotonic) waiter.grant(undefined)
    return 'more may enter'
  }
}

const OPEN_TO_ALL = new OpenToAll()

/** See the interface. */
export class CountDownLatch extends Synchronizer implements RCountDownLatch {
  constructor(client: Client, name: string, key: string) {
    const channel = latchChannel(key)
    if (client.connections.isCluster && calculateSlot(channel) !== calculateSlot(key))
      throw new TypeError(
        `the name ${quote(name)} cannot be used for a latch in a cluster: Redisson puts braces around it ` +
          'in the name of the channel, which then falls into another slot (Java fails there with ' +
          'CROSSSLOT). Use a name without braces',
      )
    super(client, name, KIND, [key], {
      channel,
      takesTurns: false,
      admission: () => OPEN_TO_ALL,
    })
  }

  async trySetCount(count: number): Promise<boolean> {
    const checked = wholeNumber('count', count, 1, Number.MAX_SAFE_INTEGER)
    return await change(this, TRY_SET_COUNT, [checked], false)
  }

  async getCount(): Promise<number> {
    return await read(this, GET_COUNT)
  }

  async countDown(): Promise<void> {
    await change(this, COUNT_DOWN, [], false, UNAVAILABLE)
  }

  // biome-ignore lint/suspicious/noExplicitAny: void without arguments, a boolean with them.
  async await(first?: number | WaitOptions, unit?: TimeUnit): Promise<any> {
    const { waitTime: given, signal } = waitArguments(first, unit)
    const { client, keys } = this
    const waitTime = given ?? client.options.waitTime
    const attempt: Attempt<undefined> = {
      waitTime,
      signal,
      send: () => client.scripts.run(LOOK, keys, []),
    }
    // A single check waits for no other caller, and no earlier answer replaces it.
    const target = waitTime <= 0 ? queueBeside(this.target, 'single checks') : this.target
    const reply = await enter(this, attempt, given, target)
    return first === undefined ? undefined : reply !== undefined
  }

  async delete(): Promise<boolean> {
    return await change(this, DELETE, [], false)
  }
}
