import { readFileSync, writeFileSync } from 'node:fs'
import { fillRegions } from '../../kit/docs/regions'
import { inRepository } from './binaries'
import { COMMAND_CHECKS } from './command'
import { KINDS, type Kind, type Result, type Results, type Tally } from './result'
import { CHECKS } from './runtimes'
import { PARTS, type Subject } from './subjects'

export const PAGE = 'docs/operations/compatibility.md'
/** Kept with the page, so that a run of some columns leaves the others as they are. */
const RESULTS = 'test/soak/compatibility/results.json'

interface Table {
  readonly rows: readonly Subject[]
  /** What `beside` of the results is. */
  readonly beside: string
  /** What a cell says of a part. */
  cell(tally: Tally | undefined): string
}

const TABLES: Readonly<Record<Kind, Table>> = {
  servers: { rows: PARTS, beside: 'Node', cell: counts },
  nodes: { rows: PARTS, beside: 'Redis', cell: counts },
  runtimes: { rows: CHECKS, beside: 'Redis', cell: yesOrNo },
  command: { rows: COMMAND_CHECKS, beside: 'Redis', cell: yesOrNo },
}

/** The runs as a Markdown table, with what failed below it. */
export function report(kind: Kind, results: readonly Result[]): string {
  const { rows, beside, cell } = TABLES[kind]
  const line = (title: string, of: (result: Result) => string) => [title, ...results.map(of)]
  const table = [
    line('', ({ title }) => title),
    ['---', ...results.map(() => '---:')],
    line('version', ({ version }) => version),
    line('from', ({ from }) => from),
    line('ran', (result) => `${result.date}, ${beside} ${result.beside}`),
    ...rows.map(({ name, title }) => line(title, ({ parts }) => cell(parts[name]))),
    line('**all**', ({ parts }) => cell(total(Object.values(parts)))),
  ]
  const failed = results.flatMap(({ title: column, failures }) =>
    failures.map(({ part, title, message }) => {
      const where = part === undefined ? column : `${column}, ${part}`
      return `- ${where}: ${title}: ${message.split('\n')[0]}`
    }),
  )
  return [
    ...table.map((cells) => `| ${cells.join(' | ')} |`),
    ...(failed.length > 0 ? ['', '**Failed:**', '', ...failed] : []),
  ].join('\n')
}

/** `41`, or `38, 3 pending, **1 failed**`; a part that was not run is no zero. */
function counts(tally: Tally | undefined): string {
  if (!tally) return '–'
  const { passed, pending, failed } = tally
  return [
    String(passed),
    ...(pending > 0 ? [`${pending} pending`] : []),
    ...(failed > 0 ? [`**${failed} failed**`] : []),
  ].join(', ')
}

/** For parts that are one check each. */
function yesOrNo(tally: Tally | undefined): string {
  if (!tally) return '–'
  return tally.failed > 0 ? '**no**' : 'yes'
}

function total(parts: readonly Tally[]): Tally {
  const sum = (of: keyof Tally) => parts.reduce((all, tally) => all + tally[of], 0)
  return { passed: sum('passed'), pending: sum('pending'), failed: sum('failed') }
}

/** `known` with a run in place of the one of the same name, in the order of `columns`. */
export function merged(
  known: readonly Result[],
  fresh: Result,
  columns: readonly { name: string }[],
): Result[] {
  const byName = new Map([...known, fresh].map((result) => [result.name, result]))
  return columns.flatMap(({ name }) => byName.get(name) ?? [])
}

/** Puts a run into the page and into the results behind it. */
export function write(kind: Kind, fresh: Result, columns: readonly { name: string }[]): void {
  const known = JSON.parse(readFileSync(inRepository(RESULTS), 'utf8')) as Results
  const results = { ...known, [kind]: merged(known[kind], fresh, columns) }
  // A line for each column.
  const lines = KINDS.map(
    (each) => `"${each}": [\n${results[each].map((column) => JSON.stringify(column)).join(',\n')}\n]`,
  )
  writeFileSync(inRepository(RESULTS), `{\n${lines.join(',\n')}\n}\n`)
  fillRegions(inRepository(PAGE), 'compatibility', (name) => report(name as Kind, results[name as Kind]))
  console.log(`written: ${PAGE}`)
}
