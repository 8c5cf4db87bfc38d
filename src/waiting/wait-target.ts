import type { Clock } from '../util/clock'
import type { CohortPolicy } from './cohort'
import type { WaitPolicy } from './wait-policy'

/** What is waited for, as far as waiting goes. */
export interface WaitTarget {
  /** Identifies its queue within the client. */
  readonly lockId: string
  readonly key: string
  /** The locks whose holds keep the waiters of this one out. */
  readonly lockIds: readonly string[]
  readonly channel: string
  readonly policy: WaitPolicy
}

/** What a queue needs to know of its surroundings. */
export interface WaitQueueEnvironment<Queue = unknown> {
  readonly clock: Clock
  readonly clientId: string
  /** How long past its wait a waiter still accepts the answer to a try in flight, in ms. */
  readonly grace: number
  /** Whether the server is known to be out of reach. */
  readonly isServerAway: boolean
  /** Starts listening for messages; each calls `wake`. Returns how to stop. */
  listen(target: WaitTarget, wake: (message?: string) => void): () => void
  /** Calls back once no message can come any more that was published before now. */
  whenCaughtUp(target: WaitTarget, callback: () => void): void
  /** Whether messages surely arrive. */
  isConfirmed(target: WaitTarget): boolean
  /** How this process takes turns with others. */
  cohort(target: WaitTarget): CohortPolicy
  /** How long to sleep before something without expiry. */
  readonly longestSleep: number
  readonly unavailableAfter: number
  /** Looks from now on whether callers wait for themselves; returns how to stop. */
  watch(queue: Queue): () => void
  /** For how long, in ms, a hold of this client surely keeps it, or it is notified. */
  surelyHeldFor(target: WaitTarget): number
  /** The queue is empty and nothing is in flight. */
  empty(queue: Queue): void
}
