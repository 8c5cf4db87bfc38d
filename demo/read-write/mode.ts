import type { Section } from '../evidence'
import type { Routine } from '../messages'
import type { Mode } from '../mode'
import { type Drawing, type Mark, marks } from '../timeline'
import { summary } from './summary'
import { faultsOf } from './verdict'

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

const READ_MS = [20, 80] as const
const WRITE_MS = [10, 40] as const
const READERS_OF_JAVA = 2

/**
 * Readers stay away long enough for a moment without any to come several times a second: a writer gets in only
 * then, here as in Java.
 */
const PAUSE_MS = { forEachReader: 200, writer: 600 } as const

/** A read-write lock: readers together, writers alone. */
export const readWriteMode: Mode = {
  java: routines(READERS_OF_JAVA),
  javaInWords: `${READERS_OF_JAVA} readers, 1 writer, pausing likewise`,
  node: routines,
  nodeInWords([readers]) {
    const { times, pauseMs } = readers!
    const reading = times === 1 ? '1 reader' : `${times} readers`
    return `each ${reading} (pausing up to ${pauseMs} ms), 1 writer (${PAUSE_MS.writer} ms)`
  },
  drawing: readWriteDrawing,
  turns: (sections) => `${count(sections, 'read')}r ${count(sections, 'write')}W`,
  wrongs: ({ overlaps, tornReads }) => [
    { count: overlaps, what: 'writers in company' },
    { count: tornReads, what: 'torn reads' },
  ],
  faultsOf,
  summary,
}

function routines(readers: number): Routine[] {
  return [
    { side: 'read', times: readers, holdMs: READ_MS, pauseMs: readers * PAUSE_MS.forEachReader },
    { side: 'write', times: 1, holdMs: WRITE_MS, pauseMs: PAUSE_MS.writer },
  ]
}

function count(sections: readonly Section[], side: 'read' | 'write'): number {
  return sections.filter((section) => section.side === side).length
}
