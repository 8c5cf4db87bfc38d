import type { Colors } from 'picocolors/types'
import { type Evidence, LANGUAGES, languageOf } from './evidence'
import type { Setting } from './mode'
import { row, verdict, WAITS_HEAD, waits } from './summary-text'
import type { FinalState } from './verdict'

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
