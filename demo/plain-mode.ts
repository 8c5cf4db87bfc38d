import type { Mode } from './mode'
import { plainDrawing } from './plain-drawing'
import { summary } from './summary'
import { faultsOf } from './verdict'

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
