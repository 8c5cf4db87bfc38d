import type { Action, SequentialOperation, Specification } from '../../judge/sequential/specification'

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
