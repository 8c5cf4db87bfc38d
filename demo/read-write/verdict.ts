import { type Evidence, LANGUAGES, languageOf } from '../evidence'
import { type FinalState, gapsIn, said } from '../verdict'
import { readersTogether } from './readers'

const SIDES = [
  ['read', 'read'],
  ['write', 'wrote'],
] as const

/** Why the run did not prove that readers share the lock and writers do not: empty when it did. */
export function faultsOf(evidence: Evidence, { counter, twin, logLength, withJava }: FinalState): string[] {
  const { sections, overlaps, doubleGrants, unguarded, tornReads } = evidence
  const lost = sections.filter(({ side }) => side === 'write').length - counter
  const { inTwoNodeProcesses, inNodeAndJava } = readersTogether(sections)
  return said(
    overlaps && `${overlaps} of ${sections.length} turns overlapped another, and one of the two wrote`,
    doubleGrants &&
      `the lock was granted ${doubleGrants} times beside another owner, and one of the two wrote`,
    unguarded && `a turn was not covered by a hold of its own ${unguarded} times`,
    tornReads && `${tornReads} reads were torn`,
    lost && `${lost} updates of the record were lost`,
    twin !== counter && `the record ends as ${counter} and ${twin}`,
    ...gapsIn(evidence, logLength),
    ...(withJava ? LANGUAGES : (['Node'] as const)).flatMap((language) =>
      SIDES.map(
        ([side, done]) =>
          !sections.some((section) => section.side === side && languageOf(section.who) === language) &&
          `${language} never ${done}`,
      ),
    ),
    inTwoNodeProcesses === 0 && 'no readers of two Node processes overlapped',
    withJava && inNodeAndJava === 0 && 'no readers of Node and Java overlapped',
  )
}
