/** How often a shrink may run the schedule again. */
const MOST_RUNS = 2_000

export interface Shrunk<T> {
  /** What is needed; without any one of them it does not happen. */
  readonly needed: readonly T[]
  readonly runs: number
}

/**
 * Leaves elements out as long as it still happens (delta debugging): first halves, then smaller and smaller parts, until no single
 * element can go. `happens` is asked with what is kept.
 */
export async function shrink<T>(
  elements: readonly T[],
  happens: (kept: readonly T[]) => Promise<boolean>,
  mostRuns = MOST_RUNS,
): Promise<Shrunk<T>> {
  let [needed, runs] = [elements, 0]
  const still = async (kept: readonly T[]) => {
    runs++
    return await happens(kept)
  }
  if (elements.length > 0 && (await still([]))) return { needed: [], runs }
  for (let parts = 2; needed.length > 0 && runs < mostRuns; ) {
    const size = Math.ceil(needed.length / parts)
    let isSmaller = false
    for (let from = 0; from < needed.length && runs < mostRuns; ) {
      const rest = [...needed.slice(0, from), ...needed.slice(from + size)]
      if (await still(rest)) {
        needed = rest
        isSmaller = true
      } else from += size
    }
    // A part that could not go may go when another has gone.
    if (size > 1) parts = isSmaller ? Math.max(2, Math.ceil(needed.length / size)) : parts * 2
    else if (!isSmaller) break
  }
  return { needed, runs }
}
