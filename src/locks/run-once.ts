import { checkOptions, leaseTime, positive } from '../api/arguments'
import type { Client } from '../client/client'
import type { LockHandle } from '../engine/lock-handle'
import type { ReentrantLock } from '../engine/reentrant-lock'
import { leaveToLease } from '../engine/release'
import { LogicalThread } from '../ownership/logical-thread'
import { unlessAborted } from '../util/abort'
import { refuseLazy } from '../util/lazy-result'

/** Options of `runOnce()`. */
export interface RunOnceOptions {
  /**
   * How long the lock stays held at least, in ms, from its acquisition: `fn` starts when the server's answer
   * has arrived. It should be longer than the difference between the clocks of the instances, and shorter
   * than the period of the job.
   */
  atLeast: number
  /**
   * How long a job holds the lock at most, in ms; at least `atLeast`. After it the lock is lost, as
   * `maxHoldTime` of a lock says. Absent: as the client says.
   */
  maxHoldTime?: number | undefined
}

/** The argument of the function of `runOnce`. */
export interface RunOnceTask {
  /** Aborts as soon as the client knows that the lock is lost, like the signal of a LockHold. */
  readonly signal: AbortSignal
}

/**
 * Runs `fn` under the lock unless another owner holds it. The lease of the key is `atLeast` from the
 * beginning, so the key stays in Redis for that long: a job that ends earlier sends nothing, and the key
 * outlives a crash of the process. For a job that takes longer, the watchdog renews the key.
 */
export function runOnce(
  client: Client,
  lock: ReentrantLock,
  fn: (task: RunOnceTask) => unknown,
  options: RunOnceOptions,
): Promise<boolean> {
  if (typeof fn !== 'function') throw new TypeError('runOnce expects a function')
  checkOptions(options, ['atLeast', 'maxHoldTime'])
  const atLeast = Math.ceil(positive('atLeast', options.atLeast))
  const maxHoldTime = leaseTime(options.maxHoldTime, undefined, 'maxHoldTime') ?? client.options.maxHoldTime
  if (maxHoldTime !== undefined && maxHoldTime < atLeast)
    throw new RangeError(`maxHoldTime (${maxHoldTime} ms) must be at least atLeast (${atLeast} ms)`)
  // A thread of its own, so that a caller that holds the lock already does not run the job a second time.
  return new LogicalThread(undefined).run(async () => {
    const hold = await lock.tryAcquire({ leaseTime: atLeast })
    if (!hold) return false
    hold.level.hold.book.limitTo(maxHoldTime)
    const { clock, lockWatchdogTimeout } = client
    const started = clock.now()
    // The timer runs as late as is safe: until then, the lease lasts longer than the watchdog's.
    const early = Math.min(atLeast / 2, (lockWatchdogTimeout * 2) / 3)
    const handToWatchdog = () => {
      if (!hold.isHeld || client.isClosed) return
      hold.level.renewFromNow()
    }
    const timer = clock.after(Math.max(0, hold.level.hold.book.left() - early), handToWatchdog)
    const end = async () => {
      timer.cancel()
      // No clock that was set, forward or back, changes how long that is.
      await releaseAfter(atLeast - (clock.now().monotonic - started.monotonic), hold, client)
    }
    const task: RunOnceTask = {
      // Each read looks at the clock: a process that stood still learns at once that its lease is over.
      get signal() {
        return hold.signal
      },
    }
    try {
      refuseLazy(await fn(task))
    } catch (error) {
      // The caller gets the error of `fn`. A loss was reported by the signal and the event.
      await end().catch(() => {})
      throw error
    }
    await end()
    return true
  })
}

/** Releases the lock of a job that has ended, but not before so many ms are over. */
async function releaseAfter(left: number, hold: LockHandle, { clock, closing }: Client): Promise<void> {
  if (left > 0) {
    const { needsWatchdog, book } = hold.level.hold
    // A re-entry of the job may have made the lease longer.
    if (!needsWatchdog && book.remaining() <= left) return await leaveToLease(hold.level)
    const isOver = new Promise<void>((over) => clock.after(left, over))
    // The job has ended: its caller and a shutdown need not wait for more.
    await unlessAborted(isOver, closing).catch(() => {})
    if (closing.aborted) return await leaveToLease(hold.level)
  }
  await hold.unlock()
}
