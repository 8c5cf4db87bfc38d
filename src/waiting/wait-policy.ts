import { random } from '../util/random'
/** How long a waiter sleeps before it tries again without a message. */
export interface BackOff {
  /** The next pause in ms. */
  next(): number
}

/** How the waiters of one process wait for one object: the difference between a lock, a semaphore and a latch. */
export interface WaitPolicy {
  /**
   * What a grant means for the next waiters:
   * - `waits`: the next one waits for a release, because one owner excludes all others
   * - `tries`: the next one tries at once, because several owners may hold the object together
   * - `granted`: all waiters that waited when the try was sent are granted, too
   */
  readonly next: 'waits' | 'tries' | 'granted'
  /** Whether the processes take turns (cohort.ts). An object without a limit of owners needs no turns. */
  readonly yields: boolean
  /** A message that grants every waiter that waited when it was published, even if the object has changed since. */
  readonly grantedBy?: string
  /** Permits that a caller of this client releases may go to the first waiter of this client, within the bounds of a cohort. */
  readonly passesPermits?: true
  /** For peers that publish nothing when they release: the first waiter tries again after these pauses. */
  readonly newBackOff?: () => BackOff
  /**
   * The queue is on the server. Here each waiter has a wait queue of its own, and the primitive refreshes its place on the
   * server and wakes it. So the waiter need not try again on its own while no message can arrive.
   */
  readonly queuedOnServer?: true
}

/** One owner at a time. */
export const EXCLUSIVE: WaitPolicy = { next: 'waits', yields: true }
/** Several owners may enter together, one after the other. */
export const SHARED: WaitPolicy = { next: 'tries', yields: false }
/** An object that opens for every waiter at once. */
export const OPEN_TO_ALL: WaitPolicy = { next: 'granted', yields: false }
/** Permits without an owner and without a lease: one permit is as good as another. */
export const PLAIN_PERMITS: WaitPolicy = { next: 'tries', yields: true, passesPermits: true }

/** The longest sleep of the first waiter of a process, in ms, where no lease ends it. */
const RECHECK_WITHIN = 30_000

/**
 * How long to sleep where no lease ends it, in ms. The time is random, so that processes that fell asleep together do not try
 * together.
 */
export function untilRecheck(): number {
  return RECHECK_WITHIN * (0.8 + random() / 5)
}
/** One owner at a time, in the order of a queue on the server. */
export const QUEUED_ON_SERVER: WaitPolicy = { next: 'waits', yields: false, queuedOnServer: true }
