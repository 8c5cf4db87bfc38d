import { type Evidence, LANGUAGES, languageOf, type Section } from '../evidence'
import { type FinalState, gapsIn, said } from '../verdict'

/** How readers shared the lock; each pair of read turns with some time in common counts once. */
export interface ReadersTogether {
  /** The greatest number at one time. */
  most: number
  inOneProcess: number
  inTwoNodeProcesses: number
  inNodeAndJava: number
}

/** `sections` are in the order in which they began. */
export function readersTogether(sections: readonly Section[]): ReadersTogether {
  const found: ReadersTogether = { most: 0, inOneProcess: 0, inTwoNodeProcesses: 0, inNodeAndJava: 0 }
  let inside: Section[] = []
  for (const reader of sections.filter(({ side }) => side === 'read')) {
    inside = inside.filter(({ to }) => to === undefined || to > reader.from)
    for (const { who } of inside) {
      if (who === reader.who) found.inOneProcess++
      else if (languageOf(who) === languageOf(reader.who)) found.inTwoNodeProcesses++
      else found.inNodeAndJava++
    }
    inside.push(reader)
    found.most = Math.max(found.most, inside.length)
  }
  return found
}

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
