import type { Action, SequentialOperation, Specification } from './specification'

export interface NotLinearizable {
  /** Up to the end of this operation no order of the operations explains all answers. */
  readonly operation: SequentialOperation
  /** The states in which the object could be before it. */
  readonly states: readonly string[]
  /** What was under way with it. */
  readonly concurrent: readonly SequentialOperation[]
}

/** How many configurations may be looked at. Beyond it a history is too concurrent to be checked. */
const MOST_CONFIGURATIONS = 200_000

export class TooConcurrent extends Error {}

/** A state of the object, and which of the operations under way have taken effect. */
interface Configuration<State> {
  /** How many operations have ended. */
  readonly ended: number
  readonly state: State
  /** Of those that have an end, by number and in order. */
  readonly done: readonly number[]
  /** How many of each kind that need not happen have happened. */
  readonly happened: readonly number[]
  /** What else could happen here; found when the first choice led nowhere. */
  others?: Configuration<State>[]
}

/** An operation that has an end, as it meets that end. */
interface Ending {
  readonly number: number
  readonly operation: SequentialOperation
  /** Before this position in the order of begins and ends. */
  readonly edge: number
  /** What is under way then, the earliest end first. */
  readonly underWay: readonly number[]
}

/** Operations that need not happen. Equal ones are interchangeable, so they are counted. */
interface Optional {
  readonly action: Action
  /** Positions in the order of begins and ends. */
  readonly begins: number[]
}

/**
 * Looks for an order in which all operations take effect one after the other, each between its begin and its end (Wing and
 * Gong). Before an operation ends, only what it needs takes effect, and the operation itself comes last. The search goes into
 * the depth, and visits no configuration twice (Lowe): so the effort of a history that has an order grows with its length. Of
 * equal operations under way the one that ends first takes effect first.
 */
export function linearize<State>(
  specification: Specification<State>,
  operations: readonly SequentialOperation[],
): NotLinearizable | undefined {
  return new Search(specification, operations).run()
}

class Search<State> {
  private readonly endings: Ending[] = []
  private readonly optional: Optional[] = []
  /** Equal operations have one kind. */
  private readonly kinds: readonly string[]
  private readonly visited = new Set<string>()
  private furthest = 0
  private readonly states = new Set<string>()

  constructor(
    private readonly specification: Specification<State>,
    private readonly operations: readonly SequentialOperation[],
  ) {
    this.kinds = operations.map(({ action }) => kindOf(action, specification.ignoresOwners ?? false))
    this.readEdges()
  }

  private readEdges() {
    const { operations, endings, optional, kinds } = this
    const optionalByKind = new Map<string, Optional>()
    let underWay: number[] = []
    for (const [edge, { operation, number, isBegin }] of edgesOf(operations).entries()) {
      if (!isBegin) {
        underWay = underWay.filter((other) => other !== number)
        endings.push({ number, operation, edge, underWay })
      } else if (operation.end !== Number.POSITIVE_INFINITY) {
        const after = underWay.findIndex((other) => operations[other]!.end > operation.end)
        underWay = underWay.toSpliced(after < 0 ? underWay.length : after, 0, number)
      } else {
        const kind = kinds[number]!
        const same = optionalByKind.get(kind) ?? { action: operation.action, begins: [] }
        if (same.begins.push(edge) > 1) continue
        optionalByKind.set(kind, same)
        optional.push(same)
      }
    }
  }

  run(): NotLinearizable | undefined {
    const { endings } = this
    const path: Configuration<State>[] = []
    let next: Configuration<State> | undefined = {
      ...{ ended: 0, state: this.specification.initial, done: [], happened: [] },
    }
    for (;;) {
      if (next && this.isNew(next)) {
        if (next.ended === endings.length) return undefined
        path.push(next)
        next = this.completed(next)
        continue
      }
      const last = path.at(-1)
      if (!last) return this.failure()
      last.others ??= [...this.others(last)].reverse()
      next = last.others.pop()
      if (!next) path.pop()
    }
  }

  private isNew({ ended, state, done, happened }: Configuration<State>): boolean {
    const { visited } = this
    const stateKey = this.specification.key(state)
    const key = `${ended}|${stateKey}|${done}|${happened}`
    if (visited.has(key)) return false
    if (visited.size > MOST_CONFIGURATIONS) throw new TooConcurrent(`${this.operations.length} operations`)
    visited.add(key)
    if (ended > this.furthest) {
      this.furthest = ended
      this.states.clear()
    }
    if (ended === this.furthest) this.states.add(stateKey)
    return true
  }

  /** After the end of the next operation that ends, if that has taken effect or can do so now. */
  private completed({
    ended,
    state,
    done,
    happened,
  }: Configuration<State>): Configuration<State> | undefined {
    const { number, operation } = this.endings[ended]!
    if (done.includes(number))
      return { ended: ended + 1, state, done: done.filter((other) => other !== number), happened }
    const after = this.specification.step(state, operation.action)
    return after === undefined ? undefined : { ended: ended + 1, state: after, done, happened }
  }

  /** What else could take effect before that end. */
  private *others({ ended, state, done, happened }: Configuration<State>): Iterable<Configuration<State>> {
    const { number: ending, underWay, edge } = this.endings[ended]!
    if (done.includes(ending)) return
    const { specification, operations, optional, kinds } = this
    const tried = new Set([kinds[ending]])
    for (const number of underWay) {
      if (done.includes(number) || tried.has(kinds[number])) continue
      tried.add(kinds[number])
      const after = specification.step(state, operations[number]!.action)
      if (after === undefined) continue
      yield { ended, state: after, done: [...done, number].sort((a, b) => a - b), happened }
    }
    for (let kind = 0; kind < optional.length; kind++) {
      const { action, begins } = optional[kind]!
      const times = happened[kind] ?? 0
      if (times >= begins.length || begins[times]! > edge) continue
      const after = specification.step(state, action)
      if (after === undefined || after === state) continue
      const counted = [...happened]
      for (let other = counted.length; other < kind; other++) counted.push(0)
      counted[kind] = times + 1
      yield { ended, state: after, done, happened: counted }
    }
  }

  private failure(): NotLinearizable {
    const { operation, underWay } = this.endings[this.furthest]!
    const concurrent = underWay.map((number) => this.operations[number]!)
    return { operation, states: [...this.states], concurrent }
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

function kindOf(
  { kind, owner, side, units, ok, token, value, oneLevel }: Action,
  ignoresOwners: boolean,
): string {
  return `${kind}|${ignoresOwners ? '' : owner}|${side}|${units}|${ok}|${token}|${value}|${oneLevel}`
}
