import type { Address } from '../worker/protocol'

/** One of those that use a lock in turns: what would be a thread in Java. */
export interface Flow {
  acquire(): Promise<void>
  release(): Promise<void>
}

/** A lock client as one process has it. */
export interface SubjectClient {
  /** Whether two flows of one lock exclude each other; not so for the limit, which locks nothing. */
  readonly exclusive: boolean
  flow(lockName: string): Flow
  /** Where the subject has read-write locks. */
  readWriteFlow?(lockName: string): { readonly read: Flow; readonly write: Flow }
}

export type OpenSubject = (at: Address) => Promise<SubjectClient>

/** For those that take part on a single server only. */
export function singleServer(at: Address): string {
  if ('redis' in at) return at.redis
  throw new Error('measured on a single server only')
}
