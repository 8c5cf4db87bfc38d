import type { Colors } from 'picocolors/types'
import { type Evidence, LANGUAGES, type Language, languageOf } from './evidence'

/** What the run showed, for people; `faults` is what it should not have shown. */
export function summary(
  evidence: Evidence,
  faults: readonly string[],
  counter: number,
  withJava: boolean,
  colors: Colors,
): string {
  const { sections, handoffs, keptTurns, grants, overlaps, unguarded, doubleGrants } = evidence
  const languages = withJava ? LANGUAGES : (['Node'] as const)
  const lines = [
    colors.bold('Handoffs from one thread or flow to another'),
    row('', ...languages.map((to) => `to ${to}`)),
    ...languages.map((from) => row(`from ${from}`, ...languages.map((to) => handoffs[from][to]))),
    `  besides, ${keptTurns} times one took the lock again right after itself`,
    '',
    colors.bold('Waits for the lock, in ms, as measured by those who waited'),
    row('', 'p50', 'p99', 'max'),
    ...languages.map((language) =>
      row(language, ...[0.5, 0.99, 1].map((share) => wait(evidence, language, share))),
    ),
    '',
    colors.bold("Evidence: Redis's own record of all commands in the order it ran them (MONITOR)"),
    `  ${grants} grants of the lock, ${doubleGrants} while another owned it`,
    `  ${sections.length} turns, ${overlaps} overlapping another, ${unguarded} by a process that was not the owner`,
    `  the counter that each turn raised by one (GET, then SET) is at ${counter}, ${sections.length - counter} updates lost`,
    '',
  ]
  if (faults.length > 0)
    return [...lines, ...faults.map((fault) => colors.red(`FAILED: ${fault}`))].join('\n')
  const what = withJava
    ? '0 overlaps, and handoffs in all four directions'
    : '0 overlaps. No Java took part: this shows nothing about Node beside Java'
  return [...lines, colors.green(`OK: ${what}`)].join('\n')
}

function row(head: string, ...cells: (string | number)[]): string {
  return `  ${head.padEnd(10)}${cells.map((cell) => String(cell).padStart(9)).join('')}`
}

function wait({ sections }: Evidence, language: Language, share: number): string {
  const waits = sections.filter(({ who }) => languageOf(who) === language).map(({ waitMs }) => waitMs)
  return percentile(waits, share)?.toFixed(1) ?? '-'
}

/** Nearest rank. */
function percentile(values: readonly number[], share: number): number | undefined {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.ceil(share * sorted.length) - 1]
}
