import type { Drawing } from '../picture'
import { type Mark, marks } from '../timeline'

const WRITER = 'W'
const OVERLAP = 'X'

/** Two colours, one to read and one to write, and letters that do without any. */
export const readWriteDrawing: Drawing = {
  name: (_row, { colors }) => colors.bold,
  signs: (sections, rows, until, width, { ascii }) =>
    marks(sections, rows, until, width).map((row) => row.map((mark) => signOf(mark, ascii ? '.' : '·'))),
  paint(sign, _row, { colors }) {
    if (sign === OVERLAP) return (text) => colors.bgRed(colors.white(text))
    if (sign === WRITER) return (text) => colors.bgYellow(colors.black(text))
    return /[r\d+]/.test(sign) ? (text) => colors.bgCyan(colors.black(text)) : colors.dim
  },
  counts: [
    { head: 'reads', counts: ({ side }) => side === 'read' },
    { head: 'writes', counts: ({ side }) => side === 'write' },
  ],
  legend({ colors }) {
    const [r, w] = [colors.bgCyan(colors.black('r')), colors.bgYellow(colors.black(WRITER))]
    return `${r} a reader (2, 3: so many in one process)  ${w} a writer, to be alone`
  },
}

function signOf({ shown, overlap }: Mark, idle: string): string {
  if (overlap) return OVERLAP
  if (shown.length === 0) return idle
  if (shown[0]!.side === 'write') return WRITER
  return shown.length === 1 ? 'r' : shown.length < 10 ? String(shown.length) : '+'
}
