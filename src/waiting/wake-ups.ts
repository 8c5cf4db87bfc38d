import { RearmableTimer } from '../util/rearmable-timer'
import type { Waiters, WaitTarget } from './admission'
import type { WaitEnvironment } from './wait-environment'

/** What wakes a queue whose waiters wait: it listens from the start, and a timer ends each rest. */
export class WakeUps {
  /** Ends a rest of the queue. */
  readonly timer: RearmableTimer
  private readonly stopListening: () => void
  private stopWatching: (() => void) | undefined

  /**
   * `onHeard`: a message came, or the subscription was confirmed or broke. `onDue`: the time of a rest is
   * over.
   */
  constructor(
    private readonly queue: Waiters & { readonly target: WaitTarget; readonly environment: WaitEnvironment },
    onHeard: () => void,
    onDue: () => void,
  ) {
    const { target, environment } = queue
    this.timer = new RearmableTimer(environment.clock, onDue)
    this.stopListening = environment.subscriptions.listen(target, onHeard)
  }

  /**
   * The queue sleeps, for so many ms at most; Infinity: no time to live is known. From now on a caller that
   * waits for itself is warned.
   */
  sleep(time: number, recheckAfter: number): void {
    const { target, environment } = this.queue
    const longest = time === Number.POSITIVE_INFINITY ? environment.longestSleep : Math.max(time, 1)
    this.timer.set(Math.min(recheckAfter, longest))
    this.stopWatching ??= environment.selfWait.watch(target, () => this.queue)
  }

  /** No waiter is left. */
  end(): void {
    this.timer.cancel()
    this.stopWatching?.()
    this.stopListening()
  }
}
