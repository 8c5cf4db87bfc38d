import type { Section } from './evidence'

export type Cell = 'idle' | 'held' | 'overlap'

/** What one column of the timeline stands for. */
export const MS_PER_COLUMN = 15

/**
 * A row a process, the last column ending at `until`. A column belongs to the one that was inside for the
 * longest part of it, so that a handoff within a column does not look like two holders; true overlaps are
 * marked as such in every row they touch.
 */
export function timeline(
  sections: readonly Section[],
  rows: readonly string[],
  until: number,
  columns: number,
): Cell[][] {
  const start = until - columns * MS_PER_COLUMN
  const visible = sections.filter(({ from, to = until }) => from < until && to > start)
  const cells = rows.map((): Cell[] => Array(columns).fill('idle'))
  for (let column = 0; column < columns; column++) {
    const from = start + column * MS_PER_COLUMN
    const inside = visible
      .map((section) => ({ section, ms: sharedMs(section, from, from + MS_PER_COLUMN, until) }))
      .filter(({ ms }) => ms > 0)
      .sort((a, b) => b.ms - a.ms)
    const overlapping = inside.filter(({ section }) => section.overlaps)
    const mark = (who: string, cell: Cell) => {
      const row = cells[rows.indexOf(who)]
      if (row) row[column] = cell
    }
    if (overlapping.length > 1) for (const { section } of overlapping) mark(section.who, 'overlap')
    else if (inside[0]) mark(inside[0].section.who, 'held')
  }
  return cells
}

function sharedMs({ from, to }: Section, start: number, end: number, now: number): number {
  return Math.min(to ?? now, end) - Math.max(from, start)
}
