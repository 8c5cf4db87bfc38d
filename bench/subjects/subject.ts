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
  close(): Promise<unknown>
}

export type OpenSubject = (redis: string) => Promise<SubjectClient>
