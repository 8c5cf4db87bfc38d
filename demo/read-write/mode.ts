import type { Section } from '../evidence'
import type { Routine } from '../messages'
import type { Mode } from '../mode'
import { readWriteDrawing } from './drawing'
import { summary } from './summary'
import { faultsOf } from './verdict'

const READ_MS = [20, 80] as const
const WRITE_MS = [10, 40] as const
const READERS_OF_JAVA = 2

/**
 * Readers stay away long enough for a moment without any to come several times a second: a writer gets in only
 * then, here as in Java.
 */
const PAUSE_MS = { forEachReader: 200, writer: 600 } as const

/** A read-write lock: readers together, writers alone. */
export const readWriteMode: Mode = {
  java: routines(READERS_OF_JAVA),
  javaInWords: `${READERS_OF_JAVA} readers, 1 writer, pausing likewise`,
  node: routines,
  nodeInWords([readers]) {
    const { times, pauseMs } = readers!
    const reading = times === 1 ? '1 reader' : `${times} readers`
    return `each ${reading} (pausing up to ${pauseMs} ms), 1 writer (${PAUSE_MS.writer} ms)`
  },
  drawing: readWriteDrawing,
  turns: (sections) => `${count(sections, 'read')}r ${count(sections, 'write')}W`,
  wrongs: ({ overlaps, tornReads }) => [
    { count: overlaps, what: 'writers in company' },
    { count: tornReads, what: 'torn reads' },
  ],
  faultsOf,
  summary,
}

function routines(readers: number): Routine[] {
  return [
    { side: 'read', times: readers, holdMs: READ_MS, pauseMs: readers * PAUSE_MS.forEachReader },
    { side: 'write', times: 1, holdMs: WRITE_MS, pauseMs: PAUSE_MS.writer },
  ]
}

function count(sections: readonly Section[], side: 'read' | 'write'): number {
  return sections.filter((section) => section.side === side).length
}
