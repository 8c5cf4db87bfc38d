import type { Redisson } from 'rlock'
import { argumentsReader, timedOut, wholeNumber } from 'rlock/internal'
import type { GrantLease } from './grant-lease'
import { checkedClient } from './leased-object'
import { takeNumber } from './slots'

/** Options of `takeSlot()`. */
export interface TakeSlotOptions {
  /** Cancels the wait when it aborts. The call rejects with the signal's reason, and nothing stays taken. */
  signal?: AbortSignal | undefined
}

/** A number that no other caller has. Its caller has it until it releases or loses it. Works with `await using`. */
export interface Slot {
  /** From 0 to `count - 1`. */
  readonly index: number
  /**
   * Aborts as soon as the client knows that the number is lost, and before another caller can have it. The reason is a
   * LockLostError. When the client is shut down, the reason is a RedissonShutdownError.
   */
  readonly signal: AbortSignal
  /**
   * Releases the number.
   * @throws LockLostError when it was lost before.
   * @throws IllegalMonitorStateError when it was released before.
   * @throws RedisUnavailableError when the server could not be reached. Then the client retries the release in the
   * background until the lease has surely ended.
   */
  release(): Promise<void>
  /** `release()`, unless it has been called already. */
  [Symbol.asyncDispose](): Promise<void>
}

const MOST = 10_000
const readOptions = argumentsReader<TakeSlotOptions>(['signal'])

/**
 * Takes the lowest free number from 0 to `count - 1`: for the ids of Snowflake generators, for shards and for numbered replicas.
 * If all are in use, it waits; callers of one process are served first come, first served.
 *
 * The watchdog renews the number while its process lives. The number of a dead process is free after `lockWatchdogTimeout`. No
 * two callers have the same number, with the guarantees of a lock: listen to `signal`.
 *
 * `shutdown()` of the client waits for `release()`, and leaves a number that is not released to its lease. Give one name the
 * same `count` everywhere.
 *
 * Rejects as `acquire()` of a lock does.
 * @throws RangeError for a `count` that is not from 1 to 10,000.
 * @example
 * ```ts
 * import { takeSlot } from '@rlock/recipes'
 * const slot = await takeSlot(redisson, 'snowflake', 1024)
 * slot.index // → 0
 * await slot.release()
 * ```
 */
export async function takeSlot(
  redisson: Redisson,
  name: string,
  count: number,
  options?: TakeSlotOptions,
): Promise<Slot> {
  const client = checkedClient(redisson)
  wholeNumber('count', count, 1, MOST)
  const { signal } = readOptions(options)
  const { waitTime } = client.options
  const taken = await takeNumber(client, name, count, { waitTime, signal })
  if (!taken) throw timedOut('slot', name, waitTime, client.clientId)
  return new TakenSlot(taken.grant, taken.lease!)
}

/** See the interface. */
class TakenSlot implements Slot {
  private isReleased = false

  constructor(
    readonly index: number,
    private readonly lease: GrantLease,
  ) {}

  get signal(): AbortSignal {
    this.lease.checkLive()
    return this.lease.signal
  }

  async release(): Promise<void> {
    this.isReleased = true
    await this.lease.release()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.isReleased) await this.release()
  }
}
