import { languageOf, type Section } from '../evidence'

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
