import type { RedissonOptions } from '../../../../src/index'
import type { LockPlan, ObjectPlan } from '../plan/objects'
import type { MutantName } from './mutants'

/** Which generation of the objects is in use: those whose permits only their taker can release, and the others. */
export interface Epochs {
  readonly withoutOwners: number
  readonly others: number
}

/** What a Node worker gets when it starts. */
export interface WorkerSetup {
  readonly worker: string
  readonly seed: number
  readonly redis: RedissonOptions['redis']
  readonly lockWatchdogTimeout: number
  readonly evidenceUrl: string
  readonly locks: readonly LockPlan[]
  readonly objects: readonly ObjectPlan[]
  readonly epochs: Epochs
  readonly mutant?: MutantName | undefined
}

export type ToWorker =
  | { readonly do: 'start' }
  /** Every caller ends after its present turn; answered by `stopped`. */
  | { readonly do: 'stop' }
  /** Keeps the event loop busy for so long. */
  | { readonly do: 'block'; readonly ms: number }
  /** So many ask for a lock at once, each for at most `waitTime` ms. */
  | { readonly do: 'join'; readonly lock: string; readonly count: number; readonly waitTime: number }
  /** From now on the next generation of objects is used; a caller that waits for one of the last gives up. */
  | { readonly do: 'epoch'; readonly epochs: Epochs }
  /** Tells on stderr who waits for what and in which state: for people who look into a violation. */
  | { readonly do: 'describe' }
  /** Lets go of the client; the process is then expected to end by itself. */
  | { readonly do: 'shutdown' }

export type FromWorker =
  | { readonly is: 'ready'; readonly clientId: string }
  /** The event loop is free again. */
  | { readonly is: 'unblocked'; readonly at: number }
  | { readonly is: 'joined' }
  /** The client raised an `error` event. */
  | { readonly is: 'complaint'; readonly message: string; readonly at: number }
  | { readonly is: 'stopped'; readonly report: WorkerReport }

export interface WorkerReport {
  /** What the client keeps though nothing is held and no caller waits; empty when all is well. */
  readonly left: Readonly<Record<string, number>>
  /** Failed acquisitions by error code. */
  readonly failures: Readonly<Record<string, number>>
  /** Errors that no contract knows. */
  readonly unexpected: readonly string[]
}
