import type { PageRow } from './view'

/** What a browser gets at once: reading it must not take the time of a frame. */
const SLICE = 200
/** Times of one hold that differ by less are the same time, measured twice. In ms. */
const SAME = 900

/** One message to the browsers. Several make one look at the server; the last of them is `done`. */
export interface PageEvent {
  readonly now: number
  /** The rows are all there are; those before are over. */
  readonly isFirst?: boolean
  readonly rows: readonly PageRow[]
  readonly gone?: readonly string[]
  readonly done?: boolean
}

/** Which rows have changed from one look to the next, so that a browser gets only these. */
export class Feed {
  private rows = new Map<string, { readonly row: PageRow; readonly text: string }>()

  /** Takes a look, and returns what a browser needs that has the look before. */
  take(found: readonly PageRow[], now: number): PageEvent[] {
    const before = this.rows
    this.rows = new Map()
    const changed: PageRow[] = []
    for (const each of found) {
      const old = before.get(each.id)
      const row = old ? settled(each, old.row) : each
      const text = JSON.stringify(row)
      this.rows.set(row.id, { row, text })
      if (old?.text !== text) changed.push(row)
    }
    const gone = [...before.keys()].filter((id) => !this.rows.has(id))
    return slices(changed, now).map((event, at) => (at === 0 ? { ...event, gone } : event))
  }

  /** What a browser needs that has nothing yet. */
  all(now: number): PageEvent[] {
    const rows = [...this.rows.values()].map(({ row }) => row)
    return slices(rows, now).map((event, at) => (at === 0 ? { ...event, isFirst: true } : event))
  }
}

function slices(rows: readonly PageRow[], now: number): PageEvent[] {
  const count = Math.max(1, Math.ceil(rows.length / SLICE))
  return Array.from({ length: count }, (_, at) => ({
    ...{ now, rows: rows.slice(at * SLICE, (at + 1) * SLICE) },
    ...(at === count - 1 && { done: true }),
  }))
}

/** The row with the times that were sent before, where they differ only by how long it took to ask. */
function settled(row: PageRow, old: PageRow): PageRow {
  const before = new Map(old.holders.map((holder) => [holder.owner, holder]))
  const holders = row.holders.map((holder) => {
    const known = before.get(holder.owner)
    if (!known) return holder
    return { ...holder, ends: same(holder.ends, known.ends), since: same(holder.since, known.since) }
  })
  const waits = row.waits.map((wait, at) => {
    const known = old.waits[at]
    return known?.owner === wait.owner ? { ...wait, since: same(wait.since, known.since)! } : wait
  })
  return { ...row, holders, waits }
}

const same = (now: number | null, before: number | null) =>
  now !== null && before !== null && Math.abs(now - before) < SAME ? before : now
