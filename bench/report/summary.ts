import type { BenchRun } from '../driver/bench-run'
import type { Measurement } from '../driver/rounds'
import { type Spread, spreadOf } from '../driver/statistics'
import type { Trouble } from '../scenarios/scenario'

/** One subject in one scenario, over all rounds. */
export interface Summary {
  readonly subject: string
  readonly figures: Readonly<Record<string, Spread | undefined>>
  /** One for each kind. */
  readonly troubles: readonly Trouble[]
}

/** Undefined where the scenario was not measured. */
export function summaryOf(run: BenchRun, scenario: string, subject: string): Summary | undefined {
  const measured = run.measurements.filter((one) => one.scenario === scenario && one.subject === subject)
  if (measured.length === 0) return undefined
  const names = new Set(measured.flatMap((one) => Object.keys(one.figures)))
  const figures = Object.fromEntries(
    [...names].map((name) => [name, spreadOf(numbers(measured.map((one) => one.figures[name])))]),
  )
  const against = (other: string, figure = 'sectionsPerSecond') =>
    spreadOf(numbers(measured.map((one) => ratioInRound(run, one, other, figure))))
  return {
    subject,
    figures: {
      ...figures,
      ofLimit: against('limit'),
      ofJava: against('java'),
      ofJavaHandoff: against('java', 'handoffP50Ms'),
    },
    troubles: troublesOf(measured),
  }
}

function troublesOf(measured: readonly Measurement[]): Trouble[] {
  const kinds = new Set(measured.flatMap((one) => one.troubles.map(({ kind }) => kind)))
  return [...kinds].map((kind) => {
    const having = measured.filter((one) => one.troubles.some((trouble) => trouble.kind === kind))
    const first = having[0]!.troubles.find((trouble) => trouble.kind === kind)!
    return { kind, text: `${first.text} (in ${having.length} of ${measured.length} rounds)` }
  })
}

/** Against another subject in the same round: what slowed the machine down then slowed both. */
export function ratioInRound(
  run: BenchRun,
  one: Measurement,
  other: string,
  figure = 'sectionsPerSecond',
): number | undefined {
  const beside = run.measurements.find(
    ({ scenario, subject, round }) => scenario === one.scenario && subject === other && round === one.round,
  )
  const [rate, base] = [one.figures[figure], beside?.figures[figure]]
  return !rate || !base ? undefined : rate / base
}

/** JSON knows no NaN: such a figure comes back as null. */
function numbers(values: readonly (number | null | undefined)[]): number[] {
  return values.filter((value): value is number => typeof value === 'number' && Number.isFinite(value))
}
