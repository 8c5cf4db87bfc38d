import type { CalibratedMutant, ExhaustiveResult, SearchResult } from './results'

export interface PageInput {
  readonly search: SearchResult
  readonly mutants: readonly CalibratedMutant[] | undefined
  readonly exhaustive: readonly ExhaustiveResult[] | undefined
  /** What each scene is about. */
  readonly about: ReadonlyMap<string, string>
}

/** docs/evidence/simulation.md. */
export function page({ search, mutants, exhaustive, about }: PageInput): string {
  const faults = Object.entries(search.faults).sort(([, a], [, b]) => b - a)
  const injected = faults.reduce((sum, [, count]) => sum + count, 0)
  const parts = [
    `# Simulation

\`npm run simulate\` wrote this page from its results in \`tools/simulator/results/\`. Do not edit it.

Clients of the real TypeScript run the real Lua scripts in one process and in virtual time. One seed decides every delay, every
fault and every choice of a caller, so a run can be repeated. A judge looks at each history twice: by rules in virtual time
(\`tools/simulator/judge/rules/\`), and name by name against a sequential specification in the manner of Wing and Gong. Faults
excuse what [the guarantees](../guarantees.md#what-no-lock-on-redis-survives) list, and nothing else.

## The run

\`${search.command}\`, on commit ${search.commit}:

| | |
| --- | --: |
| schedules | ${number(search.schedules)} |
| critical sections | ${number(search.sections)} |
| virtual time | ${duration(search.virtualMs)} |
| faults injected | ${number(injected)} |
| violations | ${number(search.violations)} |
| sections a second, on one core | ${number(Math.round(search.sections / Math.max(1, search.seconds)))} |

## Scenes

${table(
  ['scene', 'what its callers use', 'schedules', 'sections'],
  Object.entries(search.scenes).map(([name, { schedules, sections }]) => [
    ...[name, about.get(name) ?? '', number(schedules), number(sections)],
  ]),
  2,
)}

## Faults

${table(
  ['fault', 'injected'],
  faults.map(([kind, count]) => [kind, number(count)]),
  1,
)}`,
  ]
  if (exhaustive && exhaustive.length > 0)
    parts.push(`## Every order of small worlds

${table(
  ['world', 'states', 'every order with faults', 'violations'],
  exhaustive.map(({ world, states, complete, violations }) => [
    ...[world, number(states)],
    ...[complete === undefined ? 'no' : `at most ${complete}`, number(violations)],
  ]),
  1,
)}`)
  if (mutants && mutants.length > 0) {
    const caught = mutants.filter(({ found }) => found).length
    parts.push(`## Mutants

Each is one small edit of a script or a source file that brings a row of the [failure modes](../failure-modes.md) back.
\`npm run simulate -- --mutants\` runs schedules until the judge objects to one that the package as it stands passes. It caught
${caught} of ${mutants.length}.

${table(
  ['mutant', 'row', 'what is broken', 'found by', 'seed and scene', 'schedules'],
  mutants.map(({ name, row, what, schedules, found }) => [
    ...[
      name,
      row,
      what,
      found?.rule ?? '**not found**',
      found ? `${found.seed}, ${found.scene}` : '–',
      number(schedules),
    ],
  ]),
  5,
)}`)
  }
  return `${parts.join('\n\n')}\n`
}

function table(head: readonly string[], rows: readonly (readonly string[])[], firstNumber: number): string {
  const lines = [head, head.map((_, index) => (index >= firstNumber ? '--:' : '---')), ...rows]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

const number = (value: number) => value.toLocaleString('en-US')

function duration(ms: number): string {
  const days = ms / 86_400_000
  if (days >= 365) return `${(days / 365).toFixed(1)} years`
  return days >= 1 ? `${days.toFixed(1)} days` : `${(days * 24).toFixed(1)} hours`
}
