import type { JudgedBesides } from '../evidence/judge'
import type { FaultTally, TalliedKind, Tally } from '../evidence/tally'
import type { Violation } from '../evidence/violations'
import type { TopologyName } from '../plan/catalogue'
import type { RunResult } from '../run'
import type { RunMachine } from '../world/topology'

/** The first line is the head; all columns but the first hold figures, unless they are named. */
export function markdownTable(lines: readonly (readonly string[])[], texts: readonly string[] = []): string {
  const [head, ...rows] = lines
  const rule = head!.map((column, at) => (at === 0 || texts.includes(column) ? '---' : '---:'))
  return [head!, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

export const count = (figure: number): string => figure.toLocaleString('en')

/** What is kept of a run. */
export interface Figures {
  readonly topology: TopologyName
  readonly seed: number
  readonly minutes: number
  readonly mutant: string | undefined
  /** What took part; absent in the files of older runs, which had the locks. */
  readonly objects?: readonly string[]
  /** What was judged that no section shows. */
  readonly judged?: readonly JudgedBesides[]
  readonly faults: number
  /** Those that could not be injected, and why. */
  readonly failedFaults: readonly string[]
  readonly sections: number
  readonly sectionsByJava: number
  readonly byFault: Readonly<Record<string, FaultTally>>
  readonly violations: readonly Omit<Violation, 'shown'>[]
  readonly doubleCountsOfJava: readonly string[]
  readonly longestWaits: Readonly<Record<string, number>>
  readonly leastShares: Readonly<Record<string, number>>
  readonly slowWakeUps: Tally['slowWakeUps']
  readonly tookMs: number
  readonly machine: RunMachine
}

export function figuresOf({ options, judge, injected, failed, tookMs, machine }: RunResult): Figures {
  const { tally, violations } = judge
  return {
    topology: options.topology,
    seed: options.seed,
    minutes: options.lastsMs / 60_000,
    mutant: options.mutant,
    objects: options.objects,
    judged: judge.judged,
    faults: injected,
    failedFaults: failed,
    sections: tally.sections,
    sectionsByJava: tally.sectionsByJava,
    byFault: Object.fromEntries(tally.byFault) as Record<TalliedKind, FaultTally>,
    // What is drawn of them has files of its own.
    violations: violations.map(({ shown, ...violation }) => violation),
    doubleCountsOfJava: [...tally.doubleCountsOfJava],
    longestWaits: Object.fromEntries(tally.longestWaits),
    leastShares: Object.fromEntries(tally.leastShares),
    slowWakeUps: tally.slowWakeUps,
    tookMs,
    machine,
  }
}
