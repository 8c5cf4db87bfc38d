import type { Colors } from 'picocolors/types'
import { type Evidence, LANGUAGES, languageOf } from '../evidence'
import type { Setting } from '../mode'
import { row, verdict, WAITS_HEAD, waits } from '../summary'
import type { FinalState } from '../verdict'
import { readersTogether } from './verdict'

const SIDES = ['read', 'write'] as const

/** What the run showed, for people; `faults` is what it should not have shown. */
export function summary(
  evidence: Evidence,
  faults: readonly string[],
  { counter, withJava, record, withoutJava }: FinalState & Setting,
  colors: Colors,
): string {
  const { sections, grants, doubleGrants, overlaps, unguarded, tornReads } = evidence
  const [reads, writes] = SIDES.map((side) => sections.filter((section) => section.side === side)) as [
    typeof sections,
    typeof sections,
  ]
  const processes = [...new Set(sections.map(({ who }) => who))].sort().sort(javaLast)
  const { most, inOneProcess, inTwoNodeProcesses, inNodeAndJava } = readersTogether(sections)
  const shown = withJava
    ? 'readers overlapped, Node beside Java too; writers were alone, no torn read'
    : `readers overlapped; writers were alone, no torn read. ${withoutJava}`
  return [
    colors.bold('Turns'),
    row('', 'to read', 'to write'),
    ...processes.map((process) =>
      row(process, ...[reads, writes].map((side) => side.filter(({ who }) => who === process).length)),
    ),
    '',
    colors.bold('Readers together'),
    `  at most ${most} at once; read turns that overlapped, in pairs:`,
    `  ${inOneProcess} in one process, ${inTwoNodeProcesses} in two Node processes${withJava ? `, ${inNodeAndJava} in Node and Java` : ''}`,
    '',
    colors.bold('Waits for the lock, in ms, as measured by those who waited'),
    WAITS_HEAD,
    ...(withJava ? LANGUAGES : (['Node'] as const)).flatMap((language) =>
      [reads, writes].map((side, i) =>
        waits(
          `${language} ${SIDES[i]}`,
          side.filter(({ who }) => languageOf(who) === language),
        ),
      ),
    ),
    '  A writer gets in when no caller reads; steady readers keep it out, as in Java.',
    '',
    colors.bold(`Evidence: ${record}`),
    `  ${grants} grants of the lock, ${doubleGrants} beside another owner when one of the two wrote`,
    `  ${sections.length} turns, ${overlaps} of them in company when one of the two wrote, ${unguarded} without a hold`,
    `  ${reads.length} reads of a record of two keys, ${tornReads} torn (its keys different)`,
    `  ${writes.length} writes, each to one key, then to the other: now at ${counter}, ${writes.length - counter} updates lost`,
    '',
    ...verdict(faults, shown, colors),
  ].join('\n')
}

function javaLast(a: string, b: string): number {
  return Number(languageOf(a) === 'Java') - Number(languageOf(b) === 'Java')
}
