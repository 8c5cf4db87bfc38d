/** How long a waiter sleeps before it looks again although no message came. */
export interface BackOff {
  /** The next pause in ms. */
  next(): number
}

/** How the waiters of one process wait for one thing: what differs between a lock, a semaphore and a latch. */
export interface WaitPolicy {
  /**
   * What a grant means for the waiters behind:
   * - `waits`: the next waits for a release, for one owner keeps all others out
   * - `tries`: the next tries at once, for several may enter together
   * - `granted`: all that waited when the try was sent are granted, too
   */
  readonly next: 'waits' | 'tries' | 'granted'
  /** Whether the processes take turns (cohort.ts). What any number may enter together needs no turns. */
  readonly yields: boolean
  /** A message that says that all who waited when it was published are granted, whatever a later look finds. */
  readonly grantedBy?: string
  /**
   * For what is shared in parts: a waiter that needs more than there is lets smaller ones pass, so many times at most.
   * Absent: no waiter passes.
   */
  readonly overtaking?: number
  /** What is released here may go to waiters here without asking the server, within the bounds of a cohort. */
  readonly passesHere?: true
  /** For peers that publish nothing when they release: the first waiter looks again after these pauses. */
  readonly newBackOff?: () => BackOff
  /**
   * The queue is on the server: each waiter has a wait queue of its own here, and its primitive looks after its place
   * and wakes it. While no message can arrive, the waiter need not look again by itself.
   */
  readonly placedOnServer?: true
}

/** One owner at a time. */
export const EXCLUSIVE: WaitPolicy = { next: 'waits', yields: true }
/** Several owners may enter together. */
export const SHARED: WaitPolicy = { next: 'tries', yields: false }
/** Once it is open it is open for every waiter. */
export const OPEN_TO_ALL: WaitPolicy = { next: 'granted', yields: false }
/** Parts of it go to several; a large request is overtaken ten times at most. */
export const IN_PARTS: WaitPolicy = { next: 'tries', yields: false, overtaking: 10 }
/** The same, and the parts have neither owner nor lease: one is as good as another. */
export const IN_EQUAL_PARTS: WaitPolicy = { ...IN_PARTS, yields: true, passesHere: true }

/** Where no lease ends a sleep, the first waiter of a process looks again after so long at the latest, in ms. */
const RECHECK_WITHIN = 30_000

/** How long to sleep where no lease ends it, in ms: processes that fell asleep together do not look together. */
export function untilRecheck(): number {
  return RECHECK_WITHIN * (0.8 + Math.random() / 5)
}
/** One owner at a time, in the order of a queue on the server. */
export const PLACED: WaitPolicy = { next: 'waits', yields: false, placedOnServer: true }
