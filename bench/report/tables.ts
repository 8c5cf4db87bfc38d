import type { BenchRun } from '../driver/bench-run'
import type { Spread } from '../driver/statistics'
import { SCENARIOS } from '../scenarios'
import type { Scenario } from '../scenarios/scenario'
import { SUBJECTS } from '../subjects/catalogue'
import { COLUMNS } from './columns'
import { type Summary, summaryOf } from './summary'

/** A table of each scenario that was measured, as plain text that is Markdown as well. */
export function tables(run: BenchRun): string {
  return SCENARIOS.filter(({ name }) => run.measurements.some(({ scenario }) => scenario === name))
    .map((scenario) => `${scenario.title}\n\n${tableOf(run, scenario)}`)
    .join('\n\n')
}

export function tableOf(run: BenchRun, scenario: Scenario): string {
  const rows = SUBJECTS.flatMap(({ name, title }) => {
    const summary = summaryOf(run, scenario.name, name)
    return summary ? [[title, ...scenario.columns.map((column) => cell(summary, column))]] : []
  })
  const troubles = SUBJECTS.flatMap(({ name, title }) =>
    (summaryOf(run, scenario.name, name)?.troubles ?? []).map((trouble) => `- ${title}: ${trouble}`),
  )
  const heads = ['', ...scenario.columns.map((column) => COLUMNS[column]!.title)]
  return [markdown([heads, ...rows]), ...(troubles.length > 0 ? ['', ...troubles] : [])].join('\n')
}

function cell(summary: Summary, column: string): string {
  const spread = summary.figures[column]
  return spread ? shown(spread, COLUMNS[column]!.digits) : '–'
}

/** The median, and from the least to the most where the rounds differ. */
function shown({ median, least, most }: Spread, digits: number): string {
  const text = (value: number) => value.toFixed(digits)
  return text(least) === text(most) ? text(median) : `${text(median)} (${text(least)}–${text(most)})`
}

function markdown(lines: readonly (readonly string[])[]): string {
  const widths = lines[0]!.map((_, column) => Math.max(3, ...lines.map((line) => line[column]!.length)))
  const text = (line: readonly string[]) =>
    `| ${line.map((entry, column) => entry.padEnd(widths[column]!)).join(' | ')} |`
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`
  return [text(lines[0]!), rule, ...lines.slice(1).map(text)].join('\n')
}
