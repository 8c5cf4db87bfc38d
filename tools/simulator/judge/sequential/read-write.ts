import type { Action, Specification } from './specification'

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
