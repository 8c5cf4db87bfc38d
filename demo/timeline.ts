import type { Section } from './evidence'

export type Cell = 'idle' | 'held' | 'overlap'

/** What one column of the timeline stands for. */
export const MS_PER_COLUMN = 15

/** A row a process, the last column ending at `until`. */
export function timeline(
  sections: readonly Section[],
  rows: readonly string[],
  until: number,
  columns: number,
): Cell[][] {
  return marks(sections, rows, until, columns).map((row) =>
    row.map(({ shown, overlap }) => (overlap ? 'overlap' : shown.length > 0 ? 'held' : 'idle')),
  )
}

/** What one process shows in one column. */
export interface Mark {
  readonly shown: Section[]
  overlap: boolean
}

/**
 * A column belongs to the one that was inside for the longest part of it, so that a handoff within a column
 * does not look like two holders. If that is a reader, it shares the column with those that read for more than
 * half of it: any two of these did read at once. Overlaps that should not be are marked as such in every row
 * they touch.
 */
export function marks(
  sections: readonly Section[],
  rows: readonly string[],
  until: number,
  columns: number,
): Mark[][] {
  const start = until - columns * MS_PER_COLUMN
  const visible = sections.filter(({ from, to = until }) => from < until && to > start)
  const cells = rows.map(() => Array.from({ length: columns }, (): Mark => ({ shown: [], overlap: false })))
  for (let column = 0; column < columns; column++) {
    const from = start + column * MS_PER_COLUMN
    const inside = visible
      .map((section) => ({ section, ms: sharedMs(section, from, from + MS_PER_COLUMN, until) }))
      .filter(({ ms }) => ms > 0)
      .sort((a, b) => b.ms - a.ms)
    const overlapping = inside.filter(({ section }) => section.overlaps)
    const overlap = overlapping.length > 1 && overlapping.some(({ section }) => section.side !== 'read')
    const [longest, ...others] = inside
    const beside = others.filter(
      ({ section, ms }) =>
        longest?.section.side === 'read' && section.side === 'read' && ms > MS_PER_COLUMN / 2,
    )
    for (const { section } of overlap ? overlapping : longest ? [longest, ...beside] : []) {
      const mark = cells[rows.indexOf(section.who)]?.[column]
      mark?.shown.push(section)
      if (mark) mark.overlap = overlap
    }
  }
  return cells
}

function sharedMs({ from, to }: Section, start: number, end: number, now: number): number {
  return Math.min(to ?? now, end) - Math.max(from, start)
}
