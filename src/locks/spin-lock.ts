import { checkOptions, describe, positive } from '../api/arguments'
import type { Client } from '../client/client'
import { random } from '../util/random'
import { Admission, queueBeside, type WaitTarget } from '../waiting/admission'
import { HashLockKind } from './hash-lock-kind'

/** How long a waiter of a spin lock sleeps between its tries. */
export interface BackOffPolicy {
  /**
   * The next pause in ms, more than 0. `tries` counts the pauses since the waiter began or was last notified,
   * from 1. If it throws, or returns anything else, the pause of `exponentialBackOff()` applies.
   */
  nextSleepPeriod(tries: number): number
}

/** Options of `exponentialBackOff()`: Redisson's names and defaults. */
export interface ExponentialBackOffOptions {
  /**
   * The first pause, in ms.
   * @default 1
   */
  initialDelay?: number | undefined
  /**
   * The longest pause, in ms.
   * @default 128
   */
  maxDelay?: number | undefined
  /**
   * The factor between one pause and the next, at least 1. A random part is added.
   * @default 2
   */
  multiplier?: number | undefined
}

/** Options of `constantBackOff()`: Redisson's name and default. */
export interface ConstantBackOffOptions {
  /**
   * Each pause, in ms.
   * @default 64
   */
  delay?: number | undefined
}

/**
 * Pauses that grow from `initialDelay` to `maxDelay`. A random part of up to one ms for each try keeps
 * waiters apart, as in Redisson. Throws TypeError for an option that is not a number, and RangeError for one
 * that is not more than 0.
 */
export function exponentialBackOff(options: ExponentialBackOffOptions = {}): BackOffPolicy {
  checkOptions(options, ['initialDelay', 'maxDelay', 'multiplier'])
  const initialDelay = positive('initialDelay', options.initialDelay ?? 1)
  const maxDelay = positive('maxDelay', options.maxDelay ?? 128)
  const multiplier = positive('multiplier', options.multiplier ?? 2)
  if (multiplier < 1) throw new RangeError(`multiplier must be 1 or more, got ${multiplier}`)
  return {
    nextSleepPeriod: (tries) =>
      Math.min(maxDelay, initialDelay * multiplier ** (tries - 1) + random() * tries),
  }
}

/**
 * Pauses of one length. Throws TypeError for a `delay` that is not a number, and RangeError if it is not more
 * than 0.
 */
export function constantBackOff(options: ConstantBackOffOptions = {}): BackOffPolicy {
  checkOptions(options, ['delay'])
  const delay = positive('delay', options.delay ?? 64)
  return { nextSleepPeriod: () => delay }
}

const DEFAULT = exponentialBackOff()

/**
 * For peers that publish nothing when they release: the first waiter tries again after the pauses of a
 * policy.
 */
export class Spinning extends Admission {
  private tries = 0

  constructor(private readonly policy: BackOffPolicy) {
    super()
  }

  override recheckAfter(isConfirmed: boolean): number {
    return Math.min(super.recheckAfter(isConfirmed), this.pause())
  }

  /** The pauses begin again with the shortest. */
  override heard(): void {
    this.tries = 0
  }

  /** The next pause, also when the policy fails. */
  private pause(): number {
    const tries = ++this.tries
    try {
      return Math.max(1, positive('nextSleepPeriod()', this.policy.nextSleepPeriod(tries)))
    } catch {
      return DEFAULT.nextSleepPeriod(tries)
    }
  }
}

/**
 * Redisson's spin lock: an RLock whose waiters also try again without a message, after the pauses of a
 * back-off policy. Use it beside a Java SpinLock, which publishes nothing when it releases.
 *
 * **Different from Java.** This lock publishes its releases, so that waiters of `getLock` of that name wake.
 * It also listens: if the other side publishes, it wakes at once and does not spin. Only the first waiter of
 * a process sends tries. The back-off of the first spin lock that waits for a name also applies to the
 * waiters behind it. `tryLock(waitTime)` ends with its wait, after one last try, and not a pause later.
 *
 * It is the same lock as `getLock` of that name.
 */
export class SpinLockKind extends HashLockKind {
  override readonly kind = 'spin'
  private readonly target: WaitTarget

  constructor(name: string, key: string, client: Client, backOff: BackOffPolicy = DEFAULT) {
    if (typeof backOff?.nextSleepPeriod !== 'function')
      throw new TypeError(
        `a back-off must have nextSleepPeriod(), got ${describe(backOff)}: use exponentialBackOff() or ` +
          'constantBackOff()',
      )
    super(name, key, client)
    // Its own queue: the waiters of the plain lock of this name sleep until they are notified.
    this.target = queueBeside(this, 'spin', { admission: () => new Spinning(backOff) })
  }

  override queueOf(): WaitTarget {
    return this.target
  }
}
