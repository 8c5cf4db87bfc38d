import type { Expectation } from './faults'
import type { Round } from './round'

interface Spread {
  readonly least: number
  readonly median: number
  readonly most: number
}

/** What all rounds of one fault showed. */
export interface Summary {
  readonly fault: string
  readonly title: string
  readonly expects: Expectation
  readonly rounds: number
  readonly lost: number
  readonly faultToSignal: Spread | undefined
  readonly signalToOther: Spread | undefined
  readonly wakingToSignal: Spread | undefined
  /** How often `isHeld` was false already to the code that read it first on waking. */
  readonly notHeldOnWaking: number | undefined
  readonly problems: readonly string[]
}

export function summarize(
  fault: { id: string; title: string; expects: Expectation },
  rounds: Round[],
): Summary {
  const woken = rounds.filter(({ heldOnWaking }) => heldOnWaking !== undefined)
  return {
    fault: fault.id,
    title: fault.title,
    expects: fault.expects,
    rounds: rounds.length,
    lost: rounds.filter(({ lost }) => lost).length,
    faultToSignal: spread(rounds.map((round) => round.faultToSignal)),
    signalToOther: spread(rounds.map((round) => round.signalToOther)),
    wakingToSignal: spread(rounds.map((round) => round.wakingToSignal)),
    notHeldOnWaking: woken.length > 0 ? woken.filter(({ heldOnWaking }) => !heldOnWaking).length : undefined,
    problems: rounds.flatMap(({ problems }) => problems),
  }
}

function spread(values: (number | undefined)[]): Spread | undefined {
  const sorted = values.filter((value) => value !== undefined).sort((a, b) => a - b)
  if (sorted.length === 0) return undefined
  return { least: sorted[0]!, median: sorted[sorted.length >> 1]!, most: sorted.at(-1)! }
}

const HEADINGS = [
  'fault',
  'rounds',
  'lost',
  'fault to signal: median, longest',
  'signal to the other inside: shortest, median',
  'waking to signal: median, longest',
  'isHeld false on waking',
  'verdict',
]

/** A Markdown table, times in ms. */
export function table(summaries: readonly Summary[]): string {
  const rows = [HEADINGS, ...summaries.map(row)]
  const widths = HEADINGS.map((_, column) => Math.max(...rows.map((cells) => cells[column]!.length)))
  const lines = rows.map(
    (cells) => `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`,
  )
  lines.splice(1, 0, `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`)
  return lines.join('\n')
}

function row(summary: Summary): string[] {
  const { faultToSignal, signalToOther, wakingToSignal, notHeldOnWaking } = summary
  return [
    summary.title,
    String(summary.rounds),
    String(summary.lost),
    faultToSignal ? `${ms(faultToSignal.median)}, ${ms(faultToSignal.most)}` : '–',
    signalToOther ? `${ms(signalToOther.least)}, ${ms(signalToOther.median)}` : '–',
    wakingToSignal ? `${ms(wakingToSignal.median)}, ${ms(wakingToSignal.most)}` : '–',
    notHeldOnWaking === undefined ? '–' : `${notHeldOnWaking} of ${summary.rounds}`,
    summary.problems.length === 0
      ? 'as it must be'
      : `${summary.problems.length} ✗ ${[...new Set(summary.problems)].join('; ')}`,
  ]
}

function ms(value: number): string {
  return Math.abs(value) < 10 ? value.toFixed(1) : String(Math.round(value))
}
