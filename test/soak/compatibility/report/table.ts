import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { withRegions } from '../../../kit/docs/regions'
import { COMMAND_CHECKS } from '../command/run-command'
import { inRepository } from '../fetch/binaries'
import { PARTS } from '../options'
import { merged, type Result, type Results, type Tally, total } from '../run/result'
import { CHECKS } from '../runtimes/run-program'

export interface Row {
  readonly name: string
  readonly title: string
}

export interface TableSetup {
  readonly results: readonly Result[]
  /** The parts, in their order. */
  readonly rows: readonly Row[]
  /** What `beside` of the results is: Node or the server. */
  readonly beside: string
  /** What a cell says of a part. */
  readonly cell?: (tally: Tally | undefined) => string
}

/** The runs as a Markdown table, with what failed below it. */
export function report(setup: TableSetup): string {
  return joined([table(setup), failuresOf(setup.results)])
}

/** What was pending, and what passed only when it was run again alone. */
export function notesOf(results: readonly Result[]): string {
  return joined([reasonsOf(results), repeatedOf(results)]) || 'Nothing.'
}

function joined(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n\n')
}

function table({ results, rows, beside, cell = counts }: TableSetup): string {
  const line = (title: string, of: (result: Result) => string) => [title, ...results.map(of)]
  const lines = [
    line('', ({ title }) => title),
    ['---', ...results.map(() => '---:')],
    line('version', ({ version }) => version),
    line('from', ({ from }) => from),
    line('ran', (result) => `${result.date}, ${beside} ${result.beside}`),
    ...rows.map(({ name, title }) => line(title, ({ parts }) => cell(parts[name]))),
    line('**all**', ({ parts }) => cell(total(parts))),
  ]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

/** `41`, or `38, 3 pending, **1 failed**`; a part that was not run is no zero. */
export function counts(tally: Tally | undefined): string {
  if (!tally) return '–'
  const { passed, pending, failed } = tally
  return [
    String(passed),
    ...(pending > 0 ? [`${pending} pending`] : []),
    ...(failed > 0 ? [`**${failed} failed**`] : []),
  ].join(', ')
}

/** `yes`, or `**no**`: for parts that are one check each. */
export function yesOrNo(tally: Tally | undefined): string {
  if (!tally) return '–'
  return tally.failed > 0 ? '**no**' : tally.passed > 0 ? 'yes' : '–'
}

const reasonsOf = (results: readonly Result[]) =>
  withColumns('Pending:', results, ({ pendingReasons }) => pendingReasons)

const repeatedOf = (results: readonly Result[]) =>
  withColumns(
    'Failed in the whole run, and passed when the file was run again alone:',
    results,
    (result) => result.repeated,
  )

/** A list of each text once, with the columns that it holds for. */
function withColumns(
  head: string,
  results: readonly Result[],
  textsOf: (result: Result) => readonly string[],
): string {
  const titles = new Map<string, string[]>()
  for (const result of results)
    for (const text of textsOf(result)) titles.set(text, [...(titles.get(text) ?? []), result.title])
  if (titles.size === 0) return ''
  const everywhere = (of: readonly string[]) => (of.length === results.length ? 'everywhere' : of.join(', '))
  return [head, '', ...[...titles].map(([text, of]) => `- ${everywhere(of)}: ${text}`)].join('\n')
}

function failuresOf(results: readonly Result[]): string {
  const lines = results.flatMap(({ title: column, failures }) =>
    failures.map(
      ({ part, title, message }) =>
        `- ${column}${part === undefined ? '' : `, ${part}`}: ${title}: ${message.split('\n')[0]}`,
    ),
  )
  return lines.length === 0 ? '' : ['**Failed:**', '', ...lines].join('\n')
}

/** The page with fresh tables between its markers; what stands around them stays. */
export function withTables(page: string, results: Results, rows: RowsOf): string {
  const seen = new Set<string>()
  const written = withRegions(page, 'compatibility', (name) => {
    seen.add(name)
    return contentOf(name, results, rows)
  })
  const missing = ['servers', 'nodes', 'runtimes', 'command'].filter((name) => !seen.has(name))
  if (missing.length > 0) throw new Error(`The page has no marker for ${missing.join(', ')}`)
  return written
}

export interface RowsOf {
  readonly parts: readonly Row[]
  /** Of the other runtimes. */
  readonly checks: readonly Row[]
  /** Of the command `rlock`. */
  readonly commands: readonly Row[]
}

/** Undefined where nothing has run yet. */
function contentOf(name: string, results: Results, { parts, checks, commands }: RowsOf): string | undefined {
  const some = (of: readonly Result[]) => (of.length > 0 ? of : undefined)
  if (name === 'servers' && some(results.servers))
    return report({ results: results.servers, rows: parts, beside: 'Node' })
  if (name === 'nodes' && some(results.nodes))
    return report({ results: results.nodes, rows: parts, beside: 'Redis' })
  if (name === 'runtimes' && some(results.runtimes))
    return report({ results: results.runtimes, rows: checks, beside: 'Redis', cell: yesOrNo })
  if (name === 'command' && some(results.command))
    return report({ results: results.command, rows: commands, beside: 'Redis', cell: yesOrNo })
  return undefined
}

export const PAGE = 'docs/operations/compatibility.md'
/** Kept with the page, so that a run of some columns leaves the others as they are. */
const RESULTS = 'test/soak/compatibility/results.json'

/** Puts a run into the page and into the results behind it. `names` are all columns, in their order. */
export function write(kind: keyof Results, fresh: Result, names: readonly string[]): void {
  const known = readResults()
  const results = { ...known, [kind]: merged(known[kind], [fresh], names) }
  writeFileSync(inRepository(RESULTS), textOf(results))
  const page = readFileSync(inRepository(PAGE), 'utf8')
  const rows = { parts: PARTS, checks: CHECKS, commands: COMMAND_CHECKS }
  writeFileSync(inRepository(PAGE), withTables(page, results, rows))
  console.log(notesOf([fresh]))
}

/** A line for each column. What was pending or repeated is told when the run ends, and not kept. */
function textOf(results: Results): string {
  const kinds = Object.entries(results).map(([kind, columns]: [string, readonly Result[]]) => {
    const lines = columns.map((column) => JSON.stringify({ ...column, pendingReasons: [], repeated: [] }))
    return `"${kind}": [\n${lines.join(',\n')}\n]`
  })
  return `{\n${kinds.join(',\n')}\n}\n`
}

export function readResults(): Results {
  const file = inRepository(RESULTS)
  const none: Results = { servers: [], nodes: [], runtimes: [], command: [] }
  return existsSync(file)
    ? { ...none, ...(JSON.parse(readFileSync(file, 'utf8')) as Partial<Results>) }
    : none
}
