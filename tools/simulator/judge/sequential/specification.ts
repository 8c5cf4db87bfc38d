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

export interface Held {
  readonly owner: string
  readonly levels: number
  /** The last token that was drawn. */
  readonly token: number
}

const FREE = ''
const INITIAL: Held = { owner: FREE, levels: 0, token: 0 }

const keyOfHeld = ({ owner, levels, token }: Held) => `${owner} ${levels} ${token}`

/** The rules of the locks with one owner. A release by another owner is never answered with success. */
function lockWith(rules: { readonly reenters: boolean; readonly tokens: boolean }): Specification<Held> {
  return {
    initial: INITIAL,
    key: keyOfHeld,
    step(state, action) {
      switch (action.kind) {
        case 'acquire':
          return acquired(state, action, rules)
        case 'release':
          return action.owner === state.owner ? left(state, true) : undefined
        case 'end':
          // What has been released before is told too late, and changes nothing.
          return action.owner === state.owner ? left(state, action.oneLevel === true) : state
        case 'forget':
          return INITIAL
        case 'forget tokens':
          return { ...state, token: 0 }
        default:
          return state
      }
    },
  }
}

function acquired(
  state: Held,
  { owner, token }: Action,
  rules: { reenters: boolean; tokens: boolean },
): Held | undefined {
  if (rules.tokens && token !== undefined && token <= state.token) return undefined
  const drawn = rules.tokens ? (token ?? state.token) : 0
  if (state.owner === FREE) return { owner, levels: 1, token: drawn }
  if (state.owner !== owner || !rules.reenters) return undefined
  return { owner, levels: state.levels + 1, token: drawn }
}

function left({ owner, levels, token }: Held, oneLevel: boolean): Held {
  const remaining = oneLevel ? levels - 1 : 0
  return remaining > 0 ? { owner, levels: remaining, token } : { owner: FREE, levels: 0, token }
}

/** An owner that holds it waits for itself. */
export const mutex = lockWith({ reenters: false, tokens: false })
/** An owner that holds it enters again, and releases as often. */
export const reentrantMutex = lockWith({ reenters: true, tokens: false })
/** Each acquisition draws a larger token than all before. */
export const fencedMutex = lockWith({ reenters: true, tokens: true })

/** Levels by owner. A writer may hold both sides. */
export interface ReadWriteState {
  readonly writer: string
  readonly writes: number
  readonly readers: ReadonlyMap<string, number>
}

/** Readers share it, a writer excludes all other owners, a reader does not become a writer. */
export const readWrite: Specification<ReadWriteState> = {
  initial: { writer: '', writes: 0, readers: new Map() },
  key: ({ writer, writes, readers }) => `${writer} ${writes} ${[...readers].sort().join(' ')}`,
  step(state, action) {
    return action.side === 'write' ? stepWriter(state, action) : stepReader(state, action)
  },
}

function stepWriter(state: ReadWriteState, { kind, owner, oneLevel }: Action): ReadWriteState | undefined {
  const { writer, writes, readers } = state
  const isOurs = writer === owner
  if (kind === 'acquire') {
    if (isOurs) return { ...state, writes: writes + 1 }
    return writer === '' && readers.size === 0 ? { writer: owner, writes: 1, readers } : undefined
  }
  if (kind !== 'release' && kind !== 'end') return state
  if (!isOurs) return kind === 'end' ? state : undefined
  const remaining = kind === 'release' || oneLevel ? writes - 1 : 0
  return remaining > 0 ? { ...state, writes: remaining } : { writer: '', writes: 0, readers }
}

function stepReader(state: ReadWriteState, { kind, owner, oneLevel }: Action): ReadWriteState | undefined {
  const { writer, readers } = state
  const levels = readers.get(owner) ?? 0
  if (kind === 'acquire')
    return writer === '' || writer === owner ? withLevels(state, owner, levels + 1) : undefined
  if (kind !== 'release' && kind !== 'end') return state
  if (levels === 0) return kind === 'end' ? state : undefined
  return withLevels(state, owner, kind === 'release' || oneLevel ? levels - 1 : 0)
}

function withLevels(state: ReadWriteState, owner: string, levels: number): ReadWriteState {
  const readers = new Map(state.readers)
  if (levels > 0) readers.set(owner, levels)
  else readers.delete(owner)
  return { ...state, readers }
}

export interface Permits {
  /** Undefined before they are set. */
  readonly free: number | undefined
  /** Taken for callers that had given up. Their client gives them back. */
  readonly abandoned: number
}

const UNSET: Permits = { free: undefined, abandoned: 0 }

/** A semaphore, with and without leases: permits that ended are free again. */
export const permits: Specification<Permits> = {
  initial: UNSET,
  ignoresOwners: true,
  key: ({ free, abandoned }) => `${free} ${abandoned}`,
  step(state, { kind, units, ok, value }) {
    const { free, abandoned } = state
    const known = free ?? 0
    switch (kind) {
      case 'set':
        if (ok === false) return free === undefined ? undefined : state
        return free === undefined ? { free: units, abandoned } : undefined
      case 'acquire':
        return known >= units ? { free: known - units, abandoned } : undefined
      case 'abandon':
        return known >= units ? { free: known - units, abandoned: abandoned + units } : undefined
      case 'give-back':
        return abandoned >= units ? { free: known + units, abandoned: abandoned - units } : undefined
      case 'release':
      case 'end':
      case 'add':
        return { free: known + units, abandoned }
      case 'drain':
        if (value !== undefined && value !== known) return undefined
        return { free: free === undefined ? undefined : Math.min(0, known), abandoned }
      case 'look':
        return value === undefined || value === known ? state : undefined
      case 'delete':
        return UNSET
      default:
        return state
    }
  },
}

/** What a latch has left; 0 is open. */
export type Count = { readonly left: number }

/** A latch: waiters pass at 0, and only there it may be set again. */
export const latch: Specification<Count> = {
  initial: { left: 0 },
  ignoresOwners: true,
  key: ({ left }) => String(left),
  step: (state, action) => {
    const left = stepLatch(state.left, action)
    return left === undefined || left === state.left ? (left === undefined ? undefined : state) : { left }
  },
}

function stepLatch(left: number, { kind, units, ok, value }: Action): number | undefined {
  switch (kind) {
    case 'set':
      if (ok === false) return left > 0 ? left : undefined
      return left === 0 ? units : undefined
    case 'count-down':
      return Math.max(0, left - 1)
    case 'await':
      // One that did not wait long enough says false in every state.
      return ok !== true || left === 0 ? left : undefined
    case 'look':
      return value === undefined || value === left ? left : undefined
    case 'delete':
      if (ok !== undefined && ok !== left > 0) return undefined
      return 0
    default:
      return left
  }
}
