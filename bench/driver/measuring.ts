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

export interface SeveralServers extends Place {
  /** The same without a look at the last server, which may be stopped meanwhile. */
  readonly butLast: Place
  /** Stops the last server, and lets it go on. */
  readonly stall: { begin(): Promise<void>; end(): Promise<void> }
}

/** What a scenario measures with. Servers but the single one are started when they are first asked for. */
export interface Measuring {
  readonly single: Place
  /** Three primaries. */
  cluster(): Promise<Place>
  /** So many servers as one place: the first, and the others for the other members of a lock. */
  several(count: number): Promise<SeveralServers>
  /** What starts a worker for a subject. */
  command(subject: Subject): Command
  readonly measureMs: number
  /** Many processes warm up together, and more slowly for it. */
  warmupMs(subject: Subject, processes?: number): number
  /** Less of everything that takes long. */
  readonly quick: boolean
}
