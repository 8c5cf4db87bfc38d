import type { Colors } from 'picocolors/types'
import type { Evidence } from './evidence'
import { type Cell, MS_PER_COLUMN, timeline } from './timeline'

export interface Look {
  readonly columns: number
  readonly colors: Colors
  /** Draw with ASCII alone. */
  readonly ascii: boolean
}

const NAME_WIDTH = 8
const COUNT_WIDTH = 7

/** The timeline as text: a line a process and one for the scale. */
export function picture(evidence: Evidence, rows: readonly string[], until: number, look: Look): string[] {
  const { columns, colors, ascii } = look
  const width = Math.max(10, columns - NAME_WIDTH - COUNT_WIDTH - 1)
  const paints = [colors.cyan, colors.green, colors.yellow, colors.magenta]
  const lines = timeline(evidence.sections, rows, until, width).map((cells, i) => {
    const paint = paints[i % paints.length]!
    const who = rows[i]!
    const count = evidence.sections.filter((section) => section.who === who).length
    return paint(who.padEnd(NAME_WIDTH)) + drawn(cells, paint, look) + String(count).padStart(COUNT_WIDTH)
  })
  const ago = `${((width * MS_PER_COLUMN) / 1000).toFixed(1)} s ago`
  const [left, bar, right] = ascii ? ['|', '-', '|'] : ['├', '─', '┤']
  const scale = `${left} ${ago} ${bar.repeat(Math.max(0, width - ago.length - 9))} now ${right}`
  return [...lines, colors.dim(' '.repeat(NAME_WIDTH) + scale + 'turns'.padStart(COUNT_WIDTH))]
}

/** Neighbouring cells of a kind are painted together, which keeps a frame small. */
function drawn(cells: readonly Cell[], paint: (text: string) => string, { colors, ascii }: Look): string {
  const sign: Record<Cell, string> = ascii
    ? { idle: '.', held: '#', overlap: 'X' }
    : { idle: '·', held: '█', overlap: 'X' }
  const style: Record<Cell, (text: string) => string> = {
    idle: colors.dim,
    held: paint,
    overlap: (text) => colors.bgRed(colors.white(text)),
  }
  const runs: { cell: Cell; length: number }[] = []
  for (const cell of cells) {
    const last = runs.at(-1)
    if (last?.cell === cell) last.length++
    else runs.push({ cell, length: 1 })
  }
  return runs.map(({ cell, length }) => style[cell](sign[cell].repeat(length))).join('')
}
