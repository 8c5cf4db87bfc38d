import type { JavaError } from '../../test/kit/java'

/** What one thread does with locks, on either side. Its calls run one after the other. */
export interface LockThread {
  lock(lock: string, options?: LeaseOptions): Promise<unknown>
  tryLock(lock: string, options?: WaitOptions): Promise<boolean>
  unlock(lock: string, options?: ObjectChoice): Promise<unknown>
  forceUnlock(lock: string, options?: ObjectChoice): Promise<boolean>
  isLocked(lock: string, options?: ObjectChoice): Promise<boolean>
  isHeldByCurrentThread(lock: string, options?: ObjectChoice): Promise<boolean>
  getHoldCount(lock: string, options?: ObjectChoice): Promise<number>
  remainTimeToLive(lock: string, options?: ObjectChoice): Promise<number>
  getName(lock: string, options?: ObjectChoice): Promise<string>
}

export interface ObjectChoice {
  /** A plain lock unless said otherwise, else a fair one, or that side of the read-write lock of this name. */
  type?: 'lock' | 'fair' | 'non-reentrant-fair' | 'read' | 'write' | undefined
  /** Java keeps the last lease on the lock object; another tag gets another object. Node has nothing to separate. */
  object?: string | undefined
}

export interface LeaseOptions extends ObjectChoice {
  leaseTime?: number | undefined
}

export interface WaitOptions extends LeaseOptions {
  waitTime?: number | undefined
}

/** A process with one client and threads by name: a JavaPeer, or this process through a NodePeer. */
export interface LockPeer {
  readonly clientId: string
  thread(name: string): LockThread
}

/** Both sides, by who they are. A test asks for them when it runs, not when it is declared. */
export interface Sides {
  readonly Java: LockPeer
  readonly Node: LockPeer
}

export type Side = keyof Sides

/** Every interop test runs in both directions: first holds, then comes the other. */
export const BOTH_WAYS: readonly (readonly [holder: Side, comer: Side])[] = [
  ['Java', 'Node'],
  ['Node', 'Java'],
]

/** The sides of a read-write lock, as options of a call. */
export const READ = { type: 'read' } as const
export const WRITE = { type: 'write' } as const

/** A fair lock, as an option of a call. */
export const FAIR = { type: 'fair' } as const

/** "You do not hold this lock", in the words of either side. */
export function saysNotHeld(error: unknown): boolean {
  const { javaClass, code } = error as Partial<JavaError> & { code?: string }
  if (javaClass !== undefined) return javaClass === 'java.lang.IllegalMonitorStateException'
  return code === 'ILLEGAL_MONITOR_STATE' || code === 'LOCK_LOST'
}
