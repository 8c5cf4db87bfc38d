import type { Action, Specification } from './specification'

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
