/** How often a shrink may run the schedule again, and for how long, in ms. */
const MOST_RUNS = 2_000
const LONGEST = 60_000

export interface Shrunk<T> {
  /** What is needed. */
  readonly needed: readonly T[]
  readonly runs: number
  /** Without any one of them it does not happen. False: the runs or the time were over before that was known. */
  readonly isShortest: boolean
}

export interface ShrinkOptions<T> {
  /** Elements of one group are left out together first. */
  readonly groupOf?: (element: T) => unknown
  readonly mostRuns?: number
  /** In ms. */
  readonly longest?: number
  readonly progress?: (left: number, runs: number) => void
}

/**
 * Leaves elements out as long as it still happens (delta debugging): whole groups first, then halves, then smaller and smaller
 * parts, until no single element can go. `happens` is asked with what is kept.
 */
export async function shrink<T>(
  elements: readonly T[],
  happens: (kept: readonly T[]) => Promise<boolean>,
  { groupOf, mostRuns = MOST_RUNS, longest = LONGEST, progress = () => {} }: ShrinkOptions<T> = {},
): Promise<Shrunk<T>> {
  const ends = performance.now() + longest
  let runs = 0
  const isOver = () => runs >= mostRuns || performance.now() >= ends
  const still = async (kept: readonly T[]) => {
    runs++
    const isStill = await happens(kept)
    if (isStill) progress(kept.length, runs)
    return isStill
  }
  if (elements.length > 0 && (await still([]))) return { needed: [], runs, isShortest: true }
  let needed = elements
  if (groupOf) {
    const groups = grouped(elements, groupOf)
    const kept = await leaveOut(groups, (some) => still(inOrder(elements, some.flat())), isOver)
    needed = inOrder(elements, kept.flat())
  }
  needed = await leaveOut(needed, still, isOver)
  return { needed, runs, isShortest: !isOver() }
}

async function leaveOut<T>(
  elements: readonly T[],
  still: (kept: readonly T[]) => Promise<boolean>,
  isOver: () => boolean,
): Promise<readonly T[]> {
  let needed = elements
  for (let parts = 2; needed.length > 0 && !isOver(); ) {
    const size = Math.ceil(needed.length / parts)
    let isSmaller = false
    // From the end on: what happened after the violation goes first.
    for (let to = needed.length; to > 0 && !isOver(); ) {
      const from = Math.max(0, to - size)
      const rest = [...needed.slice(0, from), ...needed.slice(to)]
      if (await still(rest)) {
        needed = rest
        isSmaller = true
      }
      to = from
    }
    // A part that could not go may go when another has gone.
    if (size > 1) parts = isSmaller ? Math.max(2, Math.ceil(needed.length / size)) : parts * 2
    else if (!isSmaller) break
  }
  return needed
}

function grouped<T>(elements: readonly T[], groupOf: (element: T) => unknown): T[][] {
  const groups = new Map<unknown, T[]>()
  for (const element of elements) {
    const group = groupOf(element)
    const others = groups.get(group)
    if (others) others.push(element)
    else groups.set(group, [element])
  }
  return [...groups.values()]
}

function inOrder<T>(elements: readonly T[], some: readonly T[]): readonly T[] {
  const kept = new Set(some)
  return elements.filter((element) => kept.has(element))
}
