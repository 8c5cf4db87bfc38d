import type { Colors } from 'picocolors/types'
import { type Evidence, LANGUAGES, languageOf, type Section } from './evidence'
import type { Setting } from './mode'
import type { FinalState } from './verdict'

const HEAD_WIDTH = 10

/** A line of a table. */
export function row(head: string, ...cells: (string | number)[]): string {
  return `  ${head.padEnd(HEAD_WIDTH)}${cells.map((cell) => String(cell).padStart(9)).join('')}`
}

export const WAITS_HEAD = row('', 'p50', 'p99', 'max')

/** How long the turns in `sections` were waited for. */
export function waits(head: string, sections: readonly Section[]): string {
  const sorted = sections.map(({ waitMs }) => waitMs).toSorted((a, b) => a - b)
  // Nearest rank.
  const at = (share: number) => sorted[Math.ceil(share * sorted.length) - 1]?.toFixed(1) ?? '-'
  return row(head, ...[0.5, 0.99, 1].map(at))
}

/** The last lines: what was wrong or, if nothing, what the run has shown. */
export function verdict(faults: readonly string[], shown: string, colors: Colors): string[] {
  if (faults.length > 0) return faults.map((fault) => colors.red(`FAILED: ${fault}`))
  return [colors.green(`OK: ${shown}`)]
}

/** What the run showed, for people; `faults` is what it should not have shown. */
export function summary(
  evidence: Evidence,
  faults: readonly string[],
  { counter, withJava, record, withoutJava }: FinalState & Setting,
  colors: Colors,
): string {
  const { sections, handoffs, keptTurns, grants, overlaps, unguarded, doubleGrants } = evidence
  const languages = withJava ? LANGUAGES : (['Node'] as const)
  const shown = withJava ? '0 overlaps, and handoffs in all four directions' : `0 overlaps. ${withoutJava}`
  return [
    colors.bold('Handoffs from one thread or caller to another'),
    row('', ...languages.map((to) => `to ${to}`)),
    ...languages.map((from) => row(`from ${from}`, ...languages.map((to) => handoffs[from][to]))),
    `  besides, ${keptTurns} times one took the lock again right after itself`,
    '',
    colors.bold('Waits for the lock, in ms, as measured by those who waited'),
    WAITS_HEAD,
    ...languages.map((language) =>
      waits(
        language,
        sections.filter(({ who }) => languageOf(who) === language),
      ),
    ),
    '',
    colors.bold(`Evidence: ${record}`),
    `  ${grants} grants of the lock, ${doubleGrants} while another owned it`,
    `  ${sections.length} turns, ${overlaps} overlapping another, ${unguarded} by a process that was not the owner`,
    `  the counter that each turn raised by one (GET, then SET) is at ${counter}, ${sections.length - counter} updates lost`,
    '',
    ...verdict(faults, shown, colors),
  ].join('\n')
}
