import { type Result, type Tally, total } from '../run/result'

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
