import type { Clock } from '../util/clock'
import type { CohortPolicy } from './cohort'
import type { WaitPolicy } from './wait-policy'

/** The object for which a queue waits. */
export interface WaitTarget {
  /** Identifies its queue within the client. */
  readonly lockId: string
  readonly key: string
  /** The locks whose holds keep the waiters of this one out. */
  readonly lockIds: readonly string[]
  readonly channel: string
  readonly policy: WaitPolicy
}

export interface WaitSettings {
  readonly clock: Clock
  readonly clientId: string
  /** How long a waiter still accepts the answer to a try in flight after its wait is over, in ms. */
  readonly grace: number
  readonly unavailableAfter: number
  /** The longest sleep behind a key without expiry, in ms. */
  readonly longestSleep: number
}

/** The part of the client that a queue uses. */
export interface WaitQueueEnvironment<Queue = unknown> extends WaitSettings {
  /** Whether the server is known to be out of reach. */
  readonly isServerAway: boolean
  /** Calls `wake` for each message from now on. Returns a function that stops the listening. */
  listen(target: WaitTarget, wake: (message?: string) => void): () => void
  /** Calls back once every message that was published before now has arrived or is lost. */
  whenCaughtUp(target: WaitTarget, callback: () => void): void
  /** Whether the server has confirmed the subscription, so that messages arrive. */
  isConfirmed(target: WaitTarget): boolean
  /** The policy by which this process takes turns with others. */
  cohort(target: WaitTarget): CohortPolicy
  /** Checks from now on whether callers wait for themselves. Returns a function that stops the watch. */
  watch(queue: Queue): () => void
  /** How long, in ms, a hold of this client surely keeps the lock, unless a message comes. */
  surelyHeldFor(target: WaitTarget): number
  /** The queue is empty and nothing is in flight. */
  empty(queue: Queue): void
}
