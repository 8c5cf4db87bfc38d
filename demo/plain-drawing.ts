import type { Drawing, Look, Paint } from './picture'
import { type Cell, timeline } from './timeline'

const ASCII: Record<Cell, string> = { idle: '.', held: '#', overlap: 'X' }
const BLOCKS: Record<Cell, string> = { idle: '·', held: '█', overlap: 'X' }

/** A colour a process; the holder of the lock is a solid bar. */
export const plainDrawing: Drawing = {
  name: colorOf,
  signs: (sections, rows, until, width, { ascii }) =>
    timeline(sections, rows, until, width).map((cells) =>
      cells.map((cell) => (ascii ? ASCII : BLOCKS)[cell]),
    ),
  paint(sign, row, look) {
    const { colors } = look
    if (sign === BLOCKS.overlap) return (text) => colors.bgRed(colors.white(text))
    return sign === ASCII.held || sign === BLOCKS.held ? colorOf(row, look) : colors.dim
  },
  counts: [{ head: 'turns', counts: () => true }],
}

function colorOf(row: number, { colors }: Look): Paint {
  const paints = [colors.cyan, colors.green, colors.yellow, colors.magenta]
  return paints[row % paints.length]!
}
