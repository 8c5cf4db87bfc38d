import type { Action, SequentialOperation, Specification } from '../../judge/sequential/specification'

/** Numbers from 0 to 1, the same for the same seed. */
export function random(seed: number): () => number {
  let state = seed * 2654435761
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

const KINDS: readonly Action['kind'][] = [
  'acquire',
  'acquire',
  'release',
  'end',
  'set',
  'count-down',
  'await',
  'look',
]

/**
 * A history that the specification allows: operations take effect one after the other, and each begins some time before it does
 * and ends some time after.
 */
export function drawn(
  specification: Specification<unknown>,
  seed: number,
  length: number,
  callers = 5,
): SequentialOperation[] {
  const next = random(seed)
  let state = specification.initial
  let token = 0
  let at = 0
  /** Where each caller ended last. */
  const idle = new Map<string, number>()
  const operations: SequentialOperation[] = []
  for (let tries = 0; operations.length < length && tries < length * 200; tries++) {
    const kind = KINDS[Math.floor(next() * KINDS.length)]!
    const owner = `c${Math.floor(next() * callers)}`
    const side = next() < 0.5 ? ('read' as const) : ('write' as const)
    const units = kind === 'set' ? 3 : 1
    const value = kind === 'look' ? Math.floor(next() * 4) : undefined
    const action: Action = {
      kind,
      owner,
      side,
      units,
      ok: true,
      token: kind === 'acquire' ? token + 1 : undefined,
      value,
    }
    const after = specification.step(state, action)
    const changes = after !== undefined && specification.key(after) !== specification.key(state)
    if (after === undefined || (!changes && kind !== 'look' && kind !== 'await')) continue
    // What any owner may do would hide what was broken.
    if (kind === 'end' && next() < 0.7) continue
    token++
    state = after
    at = Math.max(at + 10, (idle.get(owner) ?? 0) + 1)
    const begin = Math.max(at - 1 - next() * 25, idle.get(owner) ?? 0, 0)
    const end = at + next() * 25
    idle.set(owner, end + 0.001)
    operations.push({ id: operations.length, action, begin, end })
  }
  return operations
}

/** One operation less, so that the rest has no order: what acquired, released or set is missing. */
export function mutated(
  specification: Specification<unknown>,
  history: readonly SequentialOperation[],
): SequentialOperation[] | undefined {
  const sequential = history.map((operation, index) => ({
    ...operation,
    begin: index * 10,
    end: index * 10 + 1,
  }))
  for (let left = Math.floor(sequential.length / 2); left < sequential.length; left++) {
    const rest = sequential.filter((_, index) => index !== left)
    let state: unknown | undefined = specification.initial
    for (const { action } of rest) state = state === undefined ? undefined : specification.step(state, action)
    if (state === undefined) return rest
  }
  return undefined
}

const LOCK_KINDS = ['acquire', 'acquire', 'release', 'end'] as const
const COUNTER_KINDS = [
  ...LOCK_KINDS,
  'set',
  'count-down',
  'await',
  'look',
  'add',
  'abandon',
  'give-back',
] as const

/** A few operations at random, most of them with no order that explains them. */
export function scrambled(next: () => number, isCounter: boolean): SequentialOperation[] {
  const below = (limit: number) => Math.floor(next() * limit)
  const kinds: readonly Action['kind'][] = isCounter ? COUNTER_KINDS : LOCK_KINDS
  const set = { kind: 'set', owner: 'm', units: 1 + below(3), ok: true } as const
  const operations: SequentialOperation[] = isCounter ? [{ id: 0, begin: 0, end: 1, action: set }] : []
  for (let length = 3 + below(5); length > 0; length--) {
    const begin = 2 + below(30)
    const end = next() < 0.2 ? Number.POSITIVE_INFINITY : begin + 1 + below(12)
    const action = {
      ...{ kind: kinds[below(kinds.length)]!, owner: 'ab'[below(2)]!, units: 1 + below(2), ok: next() < 0.8 },
      ...{ side: next() < 0.5 ? ('read' as const) : ('write' as const), value: below(3), token: below(6) },
    }
    operations.push({ id: operations.length, begin, end, action })
  }
  return operations
}

/** Tries every order, without any thought. */
export function isExplained<State>(
  specification: Specification<State>,
  left: readonly SequentialOperation[],
  state: State = specification.initial,
): boolean {
  const firstEnd = Math.min(...left.map(({ end }) => end))
  if (firstEnd === Number.POSITIVE_INFINITY) return true
  return left.some((operation) => {
    if (operation.begin > firstEnd) return false
    const after = specification.step(state, operation.action)
    const rest = left.filter((other) => other !== operation)
    return after !== undefined && isExplained(specification, rest, after)
  })
}
