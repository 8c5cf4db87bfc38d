import type { Place } from '../../driver/measuring'
import type { Command } from '../../driver/worker-process'
import type { Measured } from '../../scenarios/scenario'
import type { Subject } from '../../subjects/catalogue'

/** What an arm measures with. */
export interface ObjectsMeasuring {
  readonly single: Place
  /** So many servers as one place: the first, and the others for the other members. */
  several(count: number): Promise<SeveralServers>
  command(subject: Pick<Subject, 'runsOn'>): Command
  readonly measureMs: number
  /** Many processes warm up together, and more slowly for it. */
  warmupMs(subject: Pick<Subject, 'runsOn'>, processes?: number): number
  /** Less of everything that takes long. */
  readonly quick: boolean
}

export interface SeveralServers extends Place {
  /** The same without a look at the last server, which may be stopped meanwhile. */
  readonly butLast: Place
  /** Stops the last server, and lets it go on. */
  readonly stall: { begin(): Promise<void>; end(): Promise<void> }
}

/** One thing that is measured beside the others of its group. */
export interface Arm {
  readonly name: string
  /** In tables. */
  readonly title: string
  readonly subject: Subject
  measure(measuring: ObjectsMeasuring): Promise<Measured>
}

/** Arms that are compared with each other: each round measures all of them, in an order of its own. */
export interface Group {
  readonly name: string
  readonly title: string
  /** Of a full run. */
  readonly rounds: number
  /** In tables, in this order; see report/columns.ts. */
  readonly columns: readonly string[]
  readonly arms: readonly Arm[]
}
