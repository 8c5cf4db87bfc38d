import type { Colors } from 'picocolors/types'
import type { Evidence, Section } from './evidence'

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

export interface Look {
  readonly columns: number
  readonly colors: Colors
  /** Draw with ASCII alone. */
  readonly ascii: boolean
}

export type Paint = (text: string) => string

/** How the turns of one mode are drawn. */
export interface Drawing {
  /** The colour of the name of a row. */
  name(row: number, look: Look): Paint
  /** A row a process, each a sign a column. */
  signs(
    sections: readonly Section[],
    rows: readonly string[],
    until: number,
    width: number,
    look: Look,
  ): string[][]
  paint(sign: string, row: number, look: Look): Paint
  /** What is counted at the end of a row: a heading, and which sections it counts. */
  readonly counts: readonly { readonly head: string; counts(section: Section): boolean }[]
  /** A line that says what is what, where that is not plain to see. */
  legend?(look: Look): string
}

const NAME_WIDTH = 8
const COUNT_WIDTH = 7

/** The timeline as text: a line a process and one for the scale. */
export function picture(
  { sections }: Evidence,
  rows: readonly string[],
  until: number,
  look: Look,
  drawing: Drawing,
): string[] {
  const { columns, colors, ascii } = look
  const width = Math.max(10, columns - NAME_WIDTH - COUNT_WIDTH * drawing.counts.length - 1)
  const lines = drawing.signs(sections, rows, until, width, look).map((signs, i) => {
    const own = sections.filter((section) => section.who === rows[i])
    const counts = drawing.counts.map(({ counts }) => own.filter(counts).length)
    const drawn = painted(signs, (sign) => drawing.paint(sign, i, look))
    return drawing.name(i, look)(rows[i]!.padEnd(NAME_WIDTH)) + drawn + inColumns(counts)
  })
  const ago = `${((width * MS_PER_COLUMN) / 1000).toFixed(1)} s ago`
  const [left, bar, right] = ascii ? ['|', '-', '|'] : ['├', '─', '┤']
  const scale = `${left} ${ago} ${bar.repeat(Math.max(0, width - ago.length - 9))} now ${right}`
  const heads = inColumns(drawing.counts.map(({ head }) => head))
  lines.push(colors.dim(' '.repeat(NAME_WIDTH) + scale + heads))
  if (drawing.legend) lines.push(' '.repeat(NAME_WIDTH) + drawing.legend(look))
  return lines
}

function inColumns(cells: readonly (string | number)[]): string {
  return cells.map((cell) => String(cell).padStart(COUNT_WIDTH)).join('')
}

/** Neighbouring signs of a kind are painted together, which keeps a frame small. */
function painted(signs: readonly string[], paint: (sign: string) => Paint): string {
  const runs: { sign: string; length: number }[] = []
  for (const sign of signs) {
    const last = runs.at(-1)
    if (last?.sign === sign) last.length++
    else runs.push({ sign, length: 1 })
  }
  return runs.map(({ sign, length }) => paint(sign)(sign.repeat(length))).join('')
}
