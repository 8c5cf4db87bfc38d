import { argumentsReader, leaseTime, type PermitsWanted, permitCount } from '../api/arguments'
import type { AcquirePermitsOptions, TryAcquirePermitsOptions, WithPermitsOptions } from '../api/call-options'
import { RedisUnavailableError } from '../api/errors'
import type { TimeUnit } from '../api/time-unit'
import type { Client } from '../client/client'
import { script } from '../scripts/script'
import { disposeAfter } from '../util/dispose-after'
import { setImmediate } from '../util/timers'
import type { Next, TryReply, Waiters } from '../waiting/admission'
import type { Attempt } from '../waiting/attempt'
import type { Released } from '../waiting/client-queues'
import type { WaitQueue } from '../waiting/wait-queue'
import { PermitsTogether, semaphoreChannel } from './base-permits-attempt'
import { ALSO_REFUSED, type Retried, UNAVAILABLE } from './request-record'
import { SemaphoreAttempt } from './semaphore-attempt'
import {
  change,
  enter,
  messagesOf,
  read,
  Synchronizer,
  tooMany,
  untilRecheck,
  waitIsOver,
} from './synchronizer'

/**
 * Redisson's RSemaphore: a number of permits, taken and released by callers in any process, in Java too.
 *
 * Callers of one process are served first come, first served, whatever they ask for: a request for more
 * permits than are free blocks the smaller ones behind it. This order does not include other processes.
 *
 * A permit has no owner and no lease. The permits of a process that dies stay taken until a client calls
 * `addPermits`. If that matters, use `getPermitExpirableSemaphore`. Each call takes effect exactly once, also
 * when its connection breaks. For that the server keeps a record of the open requests beside the semaphore,
 * for a minute.
 *
 * **Different from Java.** `addPermits` and `drainPermits` keep the time to live of a semaphore. A call that
 * would make the number larger than Java can read is a RangeError. `withPermits` releases its permits once,
 * and never into a semaphore that does not exist.
 *
 * **Errors.** As RLock's: RedissonShutdownError, RedisUnavailableError, RedisRefusedError,
 * LockNotReplicatedError where no replica acknowledged an acquisition (it was released), WrongTypeError where
 * the key holds no count, TypeError and RangeError for bad arguments.
 */
export interface RSemaphore {
  /** The name given to `getSemaphore`. */
  getName(): string

  /** Takes this many permits, one by default, and waits until enough are free. 0: resolves at once. */
  acquire(permits?: number): Promise<void>
  /** The same with options. Rejects with the signal's reason when it aborts. */
  acquire(options: AcquirePermitsOptions): Promise<void>

  /**
   * Takes this many permits, all or none; resolves with whether it did. Waits for `waitTime` at most, in ms
   * unless a unit follows. Without a wait it resolves with false while other callers of this process wait for
   * permits.
   */
  tryAcquire(permits?: number, waitTime?: number, unit?: TimeUnit): Promise<boolean>
  /** The same with options. */
  tryAcquire(options: TryAcquirePermitsOptions): Promise<boolean>

  /**
   * Runs `fn` with this many permits, one by default, and releases them once, also if `fn` fails. Rejects
   * with the error of `fn`. If the server is out of reach or refuses the release, the call rejects, and the
   * client retries the release in the background for 30 s: do not repeat it.
   * @throws {@link LockTimeoutError} when not enough permits were free within `waitTime`.
   * @example
   * ```ts
   * const printers = redisson.getSemaphore('printers')
   * await printers.trySetPermits(3)
   * await printers.withPermits(() => work(), { permits: 2, waitTime: 500 })
   * ```
   */
  withPermits<T>(fn: () => T | Promise<T>, options?: WithPermitsOptions): Promise<T>

  /**
   * Adds this many permits, one by default. As in Java, the caller need not have taken any, and the semaphore
   * need not exist. If it rejects with RedisUnavailableError, the client goes on to retry it in the
   * background: do not repeat it.
   */
  release(permits?: number): Promise<void>
  /** The same, only if the semaphore exists; resolves with whether it does. */
  releaseIfExists(permits?: number): Promise<boolean>

  /**
   * How many permits are free; 0 if the semaphore does not exist. Below zero after `addPermits` with a
   * negative number.
   */
  availablePermits(): Promise<number>
  /** Takes all free permits, and resolves with how many it took. */
  drainPermits(): Promise<number>
  /**
   * Sets the number of permits, 0 or more, if the semaphore does not exist; resolves with whether it did.
   * With a time to live, in ms unless a unit follows, Redis deletes the semaphore after that time, also if
   * permits are taken.
   */
  trySetPermits(permits: number, timeToLive?: number, unit?: TimeUnit): Promise<boolean>
  /** Adds this many permits. A negative number takes some away, and the number may fall below zero. */
  addPermits(permits: number): Promise<void>
}

const RELEASE = script('semaphore/release', decodeRelease)
const ADD_PERMITS = script('semaphore/add-permits', Number)
const TRY_SET_PERMITS = script('semaphore/try-set-permits', Number)
const DRAIN_PERMITS = script('semaphore/drain-permits', Number)
const AVAILABLE_PERMITS = script('semaphore/available-permits', Number)

function decodeRelease(raw: unknown): Released {
  const answer = Number(raw)
  if (answer === 1) return { result: 'freed', notified: undefined }
  // A permit was free before, or no other client heard the message: none waits for these permits.
  if (answer === 2) return { result: 'freed', notified: 0, others: 0 }
  if (answer > 2) return { result: 'freed', notified: answer - 2 }
  return { result: answer === 0 ? 'absent' : answer === -1 ? 'too-large' : 'below-one' }
}

const KIND = { kind: 'semaphore', what: 'semaphore', interfaceName: 'RSemaphore' } as const

/**
 * Permits without an owner: one permit is as good as another, so a caller may pass its own on to the next
 * waiter.
 */
class PermitsInTurn extends PermitsTogether {
  override next(reply: TryReply, attempt: Attempt<unknown>, waiters: Waiters): Next {
    const next = super.next(reply, attempt, waiters)
    // The last permit was granted: the next waiter waits for a message.
    return this.free === 0 && reply.value.granted ? { sleepFor: untilRecheck() } : next
  }

  /**
   * A caller passes its permits on to the first waiter, if this one needs exactly these. Returns whether it
   * did. Nothing is sent, because the number on the server stays the same. While the first waiter asks the
   * server for as many, the permits go to the one behind it.
   */
  pass(queue: WaitQueue, permits: number): boolean {
    // Other permits are free, or too few for a waiter, or the semaphore may not exist: the server decides who
    // gets these.
    if (this.free === undefined || this.free < 0) return false
    for (const waiter of queue) {
      if ((waiter.attempt as SemaphoreAttempt).wanted.permits !== permits) return false
      if (waiter.isTrying) continue
      if (waiter.mayBeGranted || !queue.takeHandoff()) return false
      waiter.grant(undefined)
      // They were too few for that waiter. No message will tell the one behind it of them.
      if (this.free > 0) queue.wake()
      return true
    }
    return false
  }
}

const acquireArguments = argumentsReader<AcquirePermitsOptions>(['permits', 'signal'], ['permits'])
const TAKES = ['permits', 'waitTime', 'signal'] as const
const tryArguments = argumentsReader<TryAcquirePermitsOptions>(TAKES, ['permits', 'waitTime'], 0)
const withPermitsOptions = argumentsReader<WithPermitsOptions>(TAKES)

/** See the interface. */
export class Semaphore extends Synchronizer implements RSemaphore {
  constructor(client: Client, name: string, key: string) {
    super(client, name, KIND, [key], {
      channel: semaphoreChannel(key),
      takesTurns: true,
      admission: () => new PermitsInTurn(),
    })
  }

  async acquire(first?: number | AcquirePermitsOptions): Promise<void> {
    await take(this, acquireArguments(first))
  }

  async tryAcquire(...args: Parameters<typeof tryArguments>): Promise<boolean> {
    return await take(this, tryArguments(...args))
  }

  async withPermits<T>(fn: () => T | Promise<T>, options?: WithPermitsOptions): Promise<T> {
    if (typeof fn !== 'function') throw new TypeError('withPermits expects a function')
    const wanted = withPermitsOptions(options)
    const { permits, waitTime } = wanted
    if (!(await take(this, wanted))) throw waitIsOver(this, waitTime)
    const taken = { [Symbol.asyncDispose]: () => passOrRelease(this, permits, true) }
    return await disposeAfter(taken, fn)
  }

  async release(permits = 1): Promise<void> {
    await passOrRelease(this, permitCount(permits), false)
  }

  async releaseIfExists(permits = 1): Promise<boolean> {
    return await releaseOnServer(this, permitCount(permits), true, UNAVAILABLE)
  }

  async availablePermits(): Promise<number> {
    return await read(this, AVAILABLE_PERMITS)
  }

  async drainPermits(): Promise<number> {
    this.client.assertOpen()
    return (await this.requests.run(DRAIN_PERMITS, [], true)).value
  }

  async trySetPermits(permits: number, ttl?: number, unit?: TimeUnit): Promise<boolean> {
    return await change(this, TRY_SET_PERMITS, [
      permitCount(permits),
      leaseTime(ttl, unit, 'timeToLive') ?? 0,
    ])
  }

  async addPermits(permits: number): Promise<void> {
    await change(this, ADD_PERMITS, [permitCount(permits, -(2 ** 31))])
  }
}

async function take(semaphore: Semaphore, wanted: PermitsWanted): Promise<boolean> {
  const { client, target } = semaphore
  const { permits, signal } = wanted
  if (permits === 0) {
    client.assertWanted(signal)
    return true
  }
  if (!(await enter(semaphore, new SemaphoreAttempt(semaphore, wanted), wanted.waitTime))) return false
  client.permitsOut.took(target.objectId, permits)
  // The client may have begun to shut down in the same tick.
  if (!client.closing.aborted) return true
  await passOrRelease(semaphore, permits, true)
  throw client.closing.reason
}

/**
 * Passes the permits on to the next waiter of this client, or else releases them on the server. `ofScope`: no
 * caller can release them again, so it goes on in the background even after a refusal.
 */
async function passOrRelease(semaphore: Semaphore, permits: number, ofScope: boolean): Promise<void> {
  const { client, target } = semaphore
  const queue = client.queues.of(target)
  const passed = queue && (queue.admission as PermitsInTurn).pass(queue, permits)
  if (!passed) await releaseOnServer(semaphore, permits, ofScope, ofScope ? ALSO_REFUSED : UNAVAILABLE)
  // Callers that only pass permits on to each other must not keep the event loop from all others.
  else {
    client.permitsOut.released(target.objectId, permits)
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
}

async function releaseOnServer(
  semaphore: Semaphore,
  permits: number,
  onlyIfExists: boolean,
  retried: Retried,
) {
  const { client, target, requests } = semaphore
  client.assertNotClosed()
  if (permits === 0) return false
  const args = [permits, onlyIfExists ? 1 : 0, ...messagesOf(semaphore)]
  const noLongerOut = () => client.permitsOut.released(target.objectId, permits)
  try {
    const { value } = await client.queues.followRelease(target, requests.run(RELEASE, args, true, retried))
    if (value.result === 'too-large') throw tooMany(semaphore)
    noLongerOut()
    return value.result !== 'absent'
  } catch (error) {
    // The client goes on to release them in the background. After another error the caller may try again.
    if (retried === ALSO_REFUSED || error instanceof RedisUnavailableError) noLongerOut()
    throw error
  }
}
