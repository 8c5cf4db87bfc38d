import type { BenchRun } from '../driver/bench-run'
import { SCENARIOS } from '../scenarios'
import type { Scenario } from '../scenarios/scenario'
import { SUBJECTS } from '../subjects/catalogue'
import { COLUMNS } from './columns'
import { shown, table } from './markdown'
import { type Summary, summaryOf } from './summary'
import { type Judged, judge } from './targets'

/** All that was measured, and which targets were met. */
export function tables(run: BenchRun): string {
  const measured = SCENARIOS.filter(({ name }) => run.measurements.some(({ scenario }) => scenario === name))
  const judged = judge(run).filter(({ met }) => met !== undefined)
  return [
    ...measured.map((scenario) => `${scenario.title}\n\n${scenarioTable(run, scenario)}`),
    ...(judged.length > 0 ? [`Targets\n\n${targetTable(judged)}`] : []),
  ].join('\n\n')
}

/** A row for each subject, and below it what has to be said of some. */
export function scenarioTable(run: BenchRun, scenario: Scenario): string {
  const summaries = SUBJECTS.flatMap(({ name, title }) => {
    const summary = summaryOf(run, scenario.name, name)
    return summary ? [{ title, summary }] : []
  })
  const heads = ['', ...scenario.columns.map((column) => COLUMNS[column]!.title)]
  const rows = summaries.map(({ title, summary }) => [
    title,
    ...scenario.columns.map((column) => cell(summary, column)),
  ])
  const absent = SUBJECTS.flatMap(({ name, title }) => {
    const why = scenario.absent?.[name]
    return why && !summaries.some(({ summary }) => summary.subject === name) ? [`- ${title}: ${why}`] : []
  })
  const troubles = summaries.flatMap(({ title, summary }) =>
    summary.troubles.map(({ kind, text }) => `- ${title}: ${kind}: ${text}`),
  )
  const remarks = [...troubles, ...absent]
  return [table([heads, ...rows]), ...(remarks.length > 0 ? ['', ...remarks] : [])].join('\n')
}

export function targetTable(judged: readonly Judged[]): string {
  const rows = judged.map(({ target, spread, met }) => [
    `${target.scenario}: ${target.what}`,
    spread ? shown(spread, 2) : '–',
    `${target.atLeast === undefined ? `≤ ${target.atMost}` : `≥ ${target.atLeast}`} ` +
      (met === undefined ? 'not measured' : met ? 'met' : 'MISSED'),
  ])
  return table([['', 'measured', 'target'], ...rows])
}

function cell(summary: Summary, column: string): string {
  const spread = summary.figures[column]
  return spread ? shown(spread, COLUMNS[column]!.digits) : '–'
}
