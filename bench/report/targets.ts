import type { BenchRun } from '../driver/bench-run'
import type { Spread } from '../driver/statistics'
import { summaryOf } from './summary'

/** What rlock is to reach; the median over the rounds counts. */
export interface Target {
  readonly scenario: string
  readonly figure: string
  readonly what: string
  readonly atLeast?: number
  readonly atMost?: number
}

/** A window cuts through sections at both its ends, so commands a section are not exact. */
const CUT = 0.05

export const TARGETS: readonly Target[] = [
  { scenario: 'one-caller', figure: 'ofLimit', what: 'of the limit', atLeast: 0.95 },
  { scenario: 'one-caller', figure: 'ofJava', what: 'of Java Redisson', atLeast: 1.5 },
  { scenario: 'one-caller', figure: 'clientCommandsPerSection', what: 'client commands', atMost: 2 + CUT },
  { scenario: 'many-locks', figure: 'ofLimit', what: 'of the limit', atLeast: 0.9 },
  { scenario: 'one-process', figure: 'ofLimit', what: 'of the one-caller limit', atLeast: 1.6 },
  { scenario: 'one-process', figure: 'overtakenShare', what: 'overtaken', atMost: 0 },
  {
    scenario: 'one-process',
    figure: 'waitP99Turns',
    what: 'p99 wait, in turns',
    atMost: 2,
  },
  { scenario: 'four-processes', figure: 'ofLimit', what: 'of the one-caller limit', atLeast: 1.5 },
  {
    scenario: 'four-processes',
    figure: 'waitP99Turns',
    what: 'p99 wait, in turns',
    atMost: 8,
  },
  {
    scenario: 'four-processes',
    figure: 'leastProcessShare',
    what: 'least process',
    atLeast: 0.7,
  },
  {
    scenario: 'four-processes',
    figure: 'clientCommandsPerSection',
    what: 'client commands',
    atMost: 4 + CUT,
  },
  ...['leastShareAt0', 'leastShareAt1', 'leastShareAt5'].map((figure) => ({
    scenario: 'far-process',
    figure,
    what: `least process, of its fair share, ${figure.slice(-1)} ms farther away`,
    atLeast: 0.3,
  })),
  ...['leastWriterShareAt0', 'leastWriterShareAt1', 'leastWriterShareAt5'].map((figure) => ({
    scenario: 'far-process',
    figure,
    what: `least writer, of its fair share, ${figure.slice(-1)} ms farther away`,
    atLeast: 0.3,
  })),
  { scenario: 'handoff', figure: 'handoffRoundTrips', what: 'median, in round trips', atMost: 3 },
  { scenario: 'handoff', figure: 'ofJavaHandoff', what: 'median, of Java’s', atMost: 1 },
  { scenario: 'idle-waiters', figure: 'idleCommandsPerSecond', what: 'commands a second in all', atMost: 1 },
]

export interface Judged {
  readonly target: Target
  /** Undefined where it was not measured. */
  readonly spread: Spread | undefined
  readonly met: boolean | undefined
}

export function judge(run: BenchRun): Judged[] {
  return TARGETS.map((target) => {
    const spread = summaryOf(run, target.scenario, 'rlock')?.figures[target.figure]
    if (!spread) return { target, spread, met: undefined }
    const { atLeast = Number.NEGATIVE_INFINITY, atMost = Number.POSITIVE_INFINITY } = target
    return { target, spread, met: spread.median >= atLeast && spread.median <= atMost }
  })
}
