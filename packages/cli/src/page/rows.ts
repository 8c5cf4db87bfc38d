/** A hold or a wait in a lane; without `to` it is not over. */
export interface Span {
  readonly from: number
  readonly to?: number
  readonly label: string
}

/** Which row, from 0 on, and of how many at that time. */
export interface Place {
  row: number
  rows: number
}

/**
 * Puts spans that meet each other into rows of their own, `most` of them. What finds no free row is in the last one, in one span for
 * all of them. `now` is the end of spans that are not over. The page contains the source of this function, so it uses nothing else.
 */
export function inRows<S extends Span>(spans: readonly S[], most: number, now: number): (S & Place)[] {
  const ends: number[] = []
  const laid: (S & Place)[] = []
  /** The last span of the last row, and how many it stands for. */
  let shared: { from: number; to?: number; label: string } | undefined
  let count = 0
  for (const span of [...spans].sort((a, b) => a.from - b.from)) {
    const to = span.to ?? now
    let row = ends.findIndex((end) => end <= span.from)
    if (row < 0 && ends.length < most - 1) row = ends.length
    if (row >= 0) {
      ends[row] = to
      laid.push({ ...span, row, rows: 1 })
    } else if (shared && span.from < (shared.to ?? now)) {
      if (shared.to !== undefined) shared.to = Math.max(shared.to, to)
      shared.label = `${++count} more`
    } else {
      const alone = { ...span, row: most - 1, rows: 1 }
      shared = alone
      count = 1
      laid.push(alone)
    }
  }
  let group: Place[] = []
  let end = Number.NEGATIVE_INFINITY
  for (const span of laid) {
    if (span.from >= end) group = []
    group.push(span)
    const rows = Math.max(span.row + 1, group[0]!.rows)
    // Those before have as many already, unless there is one more now.
    if (rows > group[0]!.rows) for (const each of group) each.rows = rows
    span.rows = rows
    end = Math.max(end, span.to ?? now)
  }
  return laid
}
