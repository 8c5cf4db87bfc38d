import { RearmableTimer } from '../util/rearmable-timer'
import type { BackOff } from './wait-policy'
import type { WaitQueueEnvironment, WaitTarget } from './wait-target'

/** While no message can arrive, the first waiter tries again after this long, in ms. */
const RECHECK_WITHOUT_SUBSCRIPTION = 1_000

/** What a queue does at the end of its sleep. */
export type AfterSleep = 'tryInTurn' | 'tryNow'

type SleepingQueue = Readonly<Record<AfterSleep, () => void>> & {
  readonly lock: WaitTarget
  readonly environment: WaitQueueEnvironment
}

/** The sleep of a wait queue: how long it may last, and what the queue does at its end. */
export class QueueSleep {
  private backOff: BackOff | undefined
  private timer: RearmableTimer | undefined
  /** What the queue does at the end. */
  next: AfterSleep = 'tryInTurn'

  constructor(private readonly queue: SleepingQueue) {}

  start(time: number, next: AfterSleep): void {
    this.next = next
    this.timer ??= new RearmableTimer(this.queue.environment.clock, () => this.queue[this.next]())
    this.timer.set(time)
  }

  /** The longest sleep without a message, in ms. `remaining`: how long other owners may keep the lock; below 0: without end. */
  longest(remaining: number): number {
    const { lock, environment } = this.queue
    let longest = remaining < 0 ? environment.longestSleep : Math.max(remaining, 1)
    const { newBackOff, queuedOnServer } = lock.policy
    if (!queuedOnServer && !environment.isConfirmed(lock))
      longest = Math.min(longest, RECHECK_WITHOUT_SUBSCRIPTION)
    if (newBackOff) {
      this.backOff ??= newBackOff()
      longest = Math.min(longest, this.backOff.next())
    }
    return longest
  }

  /** A message came: the pauses begin again with the shortest. */
  restartBackOff(): void {
    this.backOff = undefined
  }

  /** The queue tries. The timer is kept for the next sleep. */
  end(): void {
    this.timer?.disarm()
  }

  /** The queue is empty. */
  cancel(): void {
    this.backOff = undefined
    this.timer?.cancel()
  }
}
