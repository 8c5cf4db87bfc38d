import type { BenchRun } from '../driver/run'
import { type Spread, spreadOf } from '../driver/statistics'
import { SCENARIOS } from '../scenarios'
import type { Scenario } from '../scenarios/scenario'
import { SUBJECTS } from '../subjects/catalogue'
import { COLUMNS } from './columns'
import { shown, table } from './markdown'
import { figure, type Judged, judge, LOCK_TARGETS, OBJECT_TARGETS, ratio, valuesOf } from './targets'

const TARGETS = [...LOCK_TARGETS, ...OBJECT_TARGETS]

export function isMeasured(run: BenchRun, scenario: string): boolean {
  return run.measurements.some((one) => one.scenario === scenario)
}

/** All that was measured, and which targets were met. */
export function tables(run: BenchRun): string {
  const measured = SCENARIOS.filter(({ name }) => isMeasured(run, name))
  const judged = judge(run, TARGETS).filter(({ spread }) => spread)
  return [
    ...measured.map((scenario) => `${scenario.title}\n\n${scenarioTable(run, scenario)}`),
    ...(judged.length > 0 ? [`Targets\n\n${targetTable(judged)}`] : []),
  ].join('\n\n')
}

/** Whether a target was missed. */
export function isMissed(run: BenchRun): boolean {
  return judge(run, TARGETS).some(({ met }) => met === false)
}

/** A row for each arm, and below it what has to be said of some. */
function scenarioTable(run: BenchRun, { name, columns, arms }: Scenario): string {
  const measured = arms(SUBJECTS, false).filter((arm) =>
    run.measurements.some(({ scenario, subject }) => scenario === name && subject === arm.name),
  )
  const cell = (arm: string, column: string) => {
    const spread = spreadIn(run, name, arm, column)
    return spread ? shown(spread, COLUMNS[column]!.digits) : '–'
  }
  const rows = measured.map((arm) => [arm.title, ...columns.map((column) => cell(arm.name, column))])
  const remarks = measured.flatMap((arm) =>
    troublesOf(run, name, arm.name).map((text) => `- ${arm.title}: ${text}`),
  )
  const heads = ['', ...columns.map((column) => COLUMNS[column]!.title)]
  return [table([heads, ...rows]), ...(remarks.length > 0 ? ['', ...remarks] : [])].join('\n')
}

export function targetTable(judged: readonly Judged[]): string {
  const rows = judged.map(({ target: { title, bound }, spread, met }) => [
    title,
    spread ? shown(spread, 2) : '–',
    bound ? `${bound.join(' ')} ${met === undefined ? 'not measured' : met ? 'met' : 'MISSED'}` : '–',
  ])
  return table([['', 'measured', 'target'], ...rows])
}

/** Figures against another subject of the same round. */
const RELATIVE: Readonly<Record<string, readonly [other: string, figure: string]>> = {
  ofLimit: ['limit', 'sectionsPerSecond'],
  ofJava: ['java', 'sectionsPerSecond'],
  ofJavaHandoff: ['java', 'handoffP50Ms'],
}

/** A figure of an arm over all rounds. */
export function spreadIn(run: BenchRun, scenario: string, arm: string, name: string): Spread | undefined {
  const relative = RELATIVE[name]
  const value = relative ? ratio(arm, ...relative) : figure(arm, name)
  return spreadOf(valuesOf(run, { scenario, value }))
}

/** One text for each kind of trouble. */
export function troublesOf(run: BenchRun, scenario: string, arm: string): string[] {
  const rounds = run.measurements.filter((one) => one.scenario === scenario && one.subject === arm)
  const all = rounds.flatMap(({ troubles }) => troubles)
  return [...new Set(all.map(({ kind }) => kind))].map((kind) => {
    const having = rounds.filter(({ troubles }) => troubles.some((trouble) => trouble.kind === kind))
    const first = all.find((trouble) => trouble.kind === kind)!
    return `${kind}: ${first.text} (in ${having.length} of ${rounds.length} rounds)`
  })
}
