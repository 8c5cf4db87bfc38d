import type { SelfDeadlockWarning } from './self-deadlock-warning'
import type { Subscriptions } from './subscriptions'
import type { WaitSettings } from './waiter'

/** The part of the client that a queue uses. */
export interface WaitEnvironment extends WaitSettings {
  /** The longest sleep where no time to live ends it, in ms. */
  readonly longestSleep: number
  readonly subscriptions: Subscriptions
  readonly selfWait: SelfDeadlockWarning
  /** The queues that callers may join. A queue for one try is not among them. */
  readonly queues: Pick<Map<string, unknown>, 'get' | 'delete'>
}
