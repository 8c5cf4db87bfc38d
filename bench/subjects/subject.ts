import type { Address, AnyWork } from '../worker/protocol'

/** One of those that use a lock in turns: what would be a thread in Java. */
export interface Caller {
  acquire(): Promise<void>
  release(): Promise<void>
}

/** A lock client as one process has it. */
export interface SubjectClient {
  /** Whether two callers of one lock exclude each other; not so for the limit, which locks nothing. */
  readonly exclusive: boolean
  caller(lockName: string): Caller
  /** Where the subject has read-write locks. */
  readWriteCaller?(lockName: string): { readonly read: Caller; readonly write: Caller }
  /** Where the subject has latches: waits until this one is open. */
  latch?(name: string): Promise<void>
}

/** What a client is opened for: where, and what its callers use there. */
export type ClientWork = Address & Pick<AnyWork, 'object' | 'permits'>

export type OpenSubject = (work: ClientWork) => Promise<SubjectClient>

/** For those that take part on a single server only. */
export function singleServer(at: Address): string {
  if ('redis' in at) return at.redis
  throw new Error('measured on a single server only')
}
