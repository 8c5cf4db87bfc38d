import type { Redis } from 'ioredis'
import type { Subject } from '../subjects/catalogue'
import type { Address } from '../worker/protocol'
import type { Command } from './worker-process'

/** Where the locks are. */
export interface Place {
  readonly address: Address
  /** Connections of the driver's own, one to each server. */
  readonly servers: readonly Redis[]
}

/** What a scenario measures with. */
export interface Measuring {
  readonly single: Place
  /** Three primaries; started when first asked for. */
  cluster(): Promise<Place>
  /** What starts a worker for a subject. */
  command(subject: Subject): Command
  /** The other subjects of this run, for scenarios in which two meet. */
  subjectNamed(name: string): Subject | undefined
  readonly measureMs: number
  /** Many processes warm up together, and more slowly for it. */
  warmupMs(subject: Subject, processes?: number): number
  /** Less of everything that takes long. */
  readonly quick: boolean
}
