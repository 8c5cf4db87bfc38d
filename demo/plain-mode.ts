import type { Mode } from './mode'
import { summary } from './summary'
import { type Cell, type Drawing, type Look, type Paint, timeline } from './timeline'
import { faultsOf } from './verdict'

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

const HOLD_MS = [5, 40] as const

/**
 * How long a caller stays away at most between its turns, for each caller of its process. The lock is unfair, as
 * Redisson's is: the first to ask after a release has it, and a woken JVM asks a little later than a woken
 * Node process. Beside Node callers that asked again at once, Java's threads would seldom get a turn.
 */
const PAUSE_MS = { besideJava: 200, nodeOnly: 50 } as const

/** One lock, and its holder is alone. */
export const plainMode: Mode = {
  java: [{ side: 'lock', times: 2, holdMs: HOLD_MS, pauseMs: 0 }],
  javaInWords: '2 threads, no pauses',
  node(callers, withJava) {
    const pauseMs = callers * (withJava ? PAUSE_MS.besideJava : PAUSE_MS.nodeOnly)
    return [{ side: 'lock', times: callers, holdMs: HOLD_MS, pauseMs }]
  },
  nodeInWords([routine]) {
    const { times, pauseMs } = routine!
    return `${times} ${times === 1 ? 'caller' : 'callers'} each, pauses of up to ${pauseMs} ms between turns`
  },
  drawing: plainDrawing,
  turns: (sections) => String(sections.length),
  wrongs: ({ overlaps }) => [{ count: overlaps, what: 'overlaps' }],
  faultsOf,
  summary,
}
