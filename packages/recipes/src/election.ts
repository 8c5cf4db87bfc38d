import type { Leader } from './leader'
import type { Leadership } from './term'

/** Options of `elect()`. */
export interface ElectOptions {
  /** Ends the candidacy when it aborts: a leader hands over. */
  signal?: AbortSignal | undefined
  /**
   * What others see of this candidate in `leader()`.
   * @default the label of the client, or `<host>:<pid>`
   */
  label?: string | undefined
  /**
   * false: it only looks, by `leader()` and `observe()`, and never leads.
   * @default true
   */
  candidate?: boolean | undefined
  /** Called each time it is elected. What it throws is raised as the event `error`. */
  onElected?: ((leadership: Leadership) => unknown) | undefined
}

/** A candidate in the election of a leader. */
export interface Election {
  /** Whether this candidate leads, as far as its client knows without asking the server. Each read compares the clocks. */
  readonly isLeader: boolean
  /** The fencing token of this leader; undefined while it does not lead. */
  readonly term: number | undefined
  /**
   * Runs `work` while this candidate leads, and again when it is elected anew. It must end when its signal aborts: the next one
   * leads after that. If it ends earlier, the candidate leads on. Resolves when the candidacy has ended.
   *
   * If `work` throws while it leads, the candidacy ends: the call rejects with that error, and another candidate leads. An error
   * after the signal has aborted is ignored.
   * @throws TypeError where `candidate` is false.
   */
  lead(work: (leadership: Leadership) => unknown): Promise<void>
  /** Who leads now, in any process, in Java too; undefined: no one does. Asks the primary. */
  leader(): Promise<Leader | undefined>
  /**
   * Each new leader, the present one first. A leader that came and went between two reads is left out. A leader in Java is seen
   * with the next message, or when the last lease ends that was seen. Nothing polls. It ends with the candidacy.
   */
  observe(): AsyncIterable<Leader>
  /**
   * Hands over to another candidate. Resolves when the work has ended and the lock is released; in `work` at once. This candidate
   * stands again when another one leads, or after a second.
   */
  resign(): Promise<void>
}
