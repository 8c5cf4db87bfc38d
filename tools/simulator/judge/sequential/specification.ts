/** One thing that happened to an object, as its sequential specification sees it. */
export interface Action {
  /**
   * - `end`: the hold ended without a release: it was lost, its lease ended, its client was killed
   * - `forget`: the server lost all its keys; `forget tokens`: it may count them anew
   * - `abandon`: permits were taken for a caller that had given up; `give-back`: they are free again
   */
  readonly kind:
    | 'acquire'
    | 'release'
    | 'end'
    | 'forget'
    | 'forget tokens'
    | 'abandon'
    | 'give-back'
    | 'set'
    | 'add'
    | 'drain'
    | 'count-down'
    | 'await'
    | 'delete'
    | 'look'
  readonly owner: string
  readonly side?: 'read' | 'write' | undefined
  readonly units: number
  /** What was answered; absent where the operation may have happened and nothing is known. */
  readonly ok?: boolean | undefined
  readonly token?: number | undefined
  readonly value?: number | undefined
  /** `end`: only the innermost level of a re-entered hold. */
  readonly oneLevel?: boolean | undefined
}

/** An object without concurrency: what each action does in a state, and which answers are possible there. */
export interface Specification<State> {
  readonly initial: State
  /** What one owner does, any other could do as well. */
  readonly ignoresOwners?: boolean
  /** Equal for equal states. */
  key(state: State): string
  /** The state after it; undefined where it cannot happen with this answer. */
  step(state: State, action: Action): State | undefined
}

export interface SequentialOperation {
  /** The call, for messages. */
  readonly id: number
  readonly action: Action
  /** Positions in the history between which it took effect. */
  readonly begin: number
  /** Infinity: it may take effect at any time from its begin on, or not at all. */
  readonly end: number
}
