import type { Action, SequentialOperation, Specification } from './specification'

export interface NotLinearizable {
  /** Up to the end of this operation no order of the operations explains all answers. */
  readonly operation: SequentialOperation
  /** The states in which the object could be before it. */
  readonly states: readonly string[]
  /** What was under way with it. */
  readonly concurrent: readonly SequentialOperation[]
}

/** How many configurations may be looked at between two answers. Beyond it a history is too concurrent to be checked. */
const MOST_CONFIGURATIONS = 200_000

export class TooConcurrent extends Error {}

/** A state of the object, and which of the operations under way have taken effect. */
interface Configuration<State> {
  readonly state: State
  /** Of those that have an end, by number and in order. */
  readonly done: readonly number[]
  /** How many of each kind that need not happen have happened. */
  readonly happened: readonly number[]
  readonly key: string
}

/**
 * Looks for an order in which all operations take effect one after the other, each between its begin and its end (Wing and
 * Gong). It keeps all configurations that the history allows so far and tells equal ones apart no more (Lowe), so the
 * effort grows with what is concurrent and not with the length of the history. Operations without an end are counted by
 * what they do, because equal ones are interchangeable.
 */
export function linearize<State>(
  specification: Specification<State>,
  operations: readonly SequentialOperation[],
): NotLinearizable | undefined {
  // Most histories have an order in which each operation takes effect as late as it can. It is found at once.
  if (!new Search(specification, true).run(operations)) return undefined
  return new Search(specification, false).run(operations)
}

class Search<State> {
  private readonly underWay = new Map<number, SequentialOperation>()
  /** What may happen at any time: each kind once, and how many of it have begun. */
  private readonly optional: { readonly action: Action; begun: number }[] = []
  private configurations: Configuration<State>[]

  constructor(
    private readonly specification: Specification<State>,
    /** Before an operation ends only as many others take effect as it needs. It finds fewer orders. */
    private readonly isLazy: boolean,
  ) {
    this.configurations = [this.configuration(specification.initial, [], [])]
  }

  run(operations: readonly SequentialOperation[]): NotLinearizable | undefined {
    for (const { operation, number, isBegin } of edgesOf(operations)) {
      if (isBegin) {
        if (operation.end === Number.POSITIVE_INFINITY) this.addOptional(operation.action)
        else this.underWay.set(number, operation)
        continue
      }
      const before = this.configurations
      this.configurations = this.completed(number)
      if (this.configurations.length === 0) {
        const states = [...new Set(before.map(({ state }) => this.specification.key(state)))]
        const concurrent = [...this.underWay.values()].filter((other) => other !== operation)
        return { operation, states, concurrent }
      }
      this.underWay.delete(number)
    }
    return undefined
  }

  private addOptional(action: Action) {
    const same = this.optional.find((other) => isSame(other.action, action))
    if (same) same.begun++
    else this.optional.push({ action, begun: 1 })
  }

  /** All configurations in which this operation has taken effect, without it. */
  private completed(number: number): Configuration<State>[] {
    const seen = new Set(this.configurations.map(({ key }) => key))
    const result = new Map<string, Configuration<State>>()
    for (let open = this.configurations; open.length > 0; ) {
      if (seen.size > MOST_CONFIGURATIONS) throw new TooConcurrent(`${this.underWay.size} operations at once`)
      const further: Configuration<State>[] = []
      for (const current of open) {
        if (current.done.includes(number)) {
          const without = current.done.filter((other) => other !== number)
          const rest = this.configuration(current.state, without, current.happened)
          result.set(rest.key, rest)
          continue
        }
        for (const next of this.next(current)) {
          if (seen.has(next.key)) continue
          seen.add(next.key)
          further.push(next)
        }
      }
      if (this.isLazy && result.size > 0) break
      open = further
    }
    return [...result.values()]
  }

  private *next({ state, done, happened }: Configuration<State>): Iterable<Configuration<State>> {
    for (const [number, { action }] of this.underWay) {
      if (done.includes(number)) continue
      const after = this.specification.step(state, action)
      if (after === undefined) continue
      yield this.configuration(
        after,
        [...done, number].sort((a, b) => a - b),
        happened,
      )
    }
    for (let kind = 0; kind < this.optional.length; kind++) {
      const { action, begun } = this.optional[kind]!
      const times = happened[kind] ?? 0
      if (times >= begun) continue
      const after = this.specification.step(state, action)
      if (after === undefined || after === state) continue
      const counted = [...happened]
      for (let other = counted.length; other < kind; other++) counted.push(0)
      counted[kind] = times + 1
      yield this.configuration(after, done, counted)
    }
  }

  private configuration(
    state: State,
    done: readonly number[],
    happened: readonly number[],
  ): Configuration<State> {
    return { state, done, happened, key: `${this.specification.key(state)}|${done}|${happened}` }
  }
}

interface Edge {
  readonly operation: SequentialOperation
  readonly number: number
  readonly at: number
  readonly isBegin: boolean
}

/** Begins and ends in the order of the history. What begins and ends at one position took effect there. */
function edgesOf(operations: readonly SequentialOperation[]): Edge[] {
  const edges: Edge[] = []
  operations.forEach((operation, number) => {
    edges.push({ operation, number, at: operation.begin, isBegin: true })
    if (operation.end !== Number.POSITIVE_INFINITY)
      edges.push({ operation, number, at: operation.end, isBegin: false })
  })
  return edges.sort((a, b) => a.at - b.at || Number(b.isBegin) - Number(a.isBegin))
}

const isSame = (first: Action, second: Action) =>
  first.kind === second.kind &&
  first.owner === second.owner &&
  first.side === second.side &&
  first.units === second.units &&
  first.oneLevel === second.oneLevel
