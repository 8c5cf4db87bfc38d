import type { Action, Specification } from './specification'

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
