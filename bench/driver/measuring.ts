import type { Redis } from 'ioredis'
import type { Subject } from '../subjects/catalogue'
import type { Command } from './worker-process'

/** What a scenario measures with. */
export interface Measuring {
  /** The server's address. */
  readonly url: string
  /** A connection of the driver's own. */
  readonly redis: Redis
  /** What starts a worker for a subject. */
  command(subject: Subject): Command
  readonly measureMs: number
  warmupMs(subject: Subject): number
}
