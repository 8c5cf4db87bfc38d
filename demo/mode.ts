import type { Colors } from 'picocolors/types'
import type { Evidence, Section } from './evidence'
import type { Routine } from './messages'
import type { Drawing } from './timeline'
import type { FinalState } from './verdict'

/** All that differs between the ways to run the demo. */
export interface Mode {
  /** What Java's threads do, and what each Node process does; `callers` is what was asked for. */
  readonly java: readonly Routine[]
  node(callers: number, withJava: boolean): readonly Routine[]
  /** The same for people. */
  readonly javaInWords: string
  nodeInWords(routines: readonly Routine[]): string
  readonly drawing: Drawing
  /** The turns of one process, for a line a second. */
  turns(sections: readonly Section[]): string
  /** What must not be, in brief. */
  wrongs(evidence: Evidence): readonly Wrong[]
  /** Why the run did not prove what it should: empty when it did. */
  faultsOf(evidence: Evidence, state: FinalState): string[]
  summary(evidence: Evidence, faults: readonly string[], state: FinalState & Setting, colors: Colors): string
}

/** What the summary says of where the run took place. */
export interface Setting {
  /** Whose record the evidence is. */
  readonly record: string
  /** What a run without Java does not show. */
  readonly withoutJava: string
}

export interface Wrong {
  readonly count: number
  readonly what: string
}
