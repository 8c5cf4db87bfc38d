import type { AcquireArguments } from '../api/arguments'
import { IllegalMonitorStateError } from '../api/errors'
import type { Client } from '../client/client'
import type { Leased } from '../leases/leased'
import { type Caller, callerOf } from '../ownership/caller'
import { BareLevels, type HoldEntry } from '../ownership/hold-table'
import type { AnyHold, LevelOf } from '../ownership/owned-hold'
import { quote } from '../util/quote'
import { timedOut } from '../waiting/wait-errors'
import { ACQUIRE_FOR } from './lock-internals'
import { warnOfEndedThread } from './ownership-warnings'

/** A lock as the calls that acquire it see it. */
export interface Acquirable<H extends AnyHold> {
  readonly client: Client
  readonly subject: Pick<Leased, 'objectId' | 'name' | 'key'>
  /** What `lock()` and `tryLock()` of code without a thread acquired through this object. */
  unscoped: BareLevels<LevelOf<H>> | undefined
  /**
   * Undefined: the wait was over. `entry`: absent without a scope, and while the caller acquires this lock
   * already. `bare`: where the level belongs, if an `unlock()` has to end it. Never throws at once.
   */
  [ACQUIRE_FOR](
    caller: Caller<H>,
    options: AcquireArguments,
    entry?: HoldEntry<H>,
    bare?: BareLevels<LevelOf<H>>,
  ): Promise<LevelOf<H> | undefined>
}

/**
 * Any acquisition. `isBare`: an `unlock()` of the caller ends the level; otherwise its handle alone does. A
 * call that gives no waitTime has the one of the client, and rejects after it.
 *
 * Not async, for the sake of waiters: as an async function it kept 160 bytes more for each of them.
 */
export function acquireLevel<H extends AnyHold>(
  lock: Acquirable<H>,
  options: AcquireArguments,
  isBare: boolean,
  given?: Caller<H>,
): Promise<LevelOf<H> | undefined> {
  if (lock === undefined) throw takenOut()
  const { client, subject } = lock
  const caller = given ?? callerOf<H>(client, options.threadId)
  const entry = caller.entryToAcquire(subject.objectId)
  if (entry?.loss) throw entry.loss
  if (entry?.enter() === false)
    throw new IllegalMonitorStateError(
      `${caller.description} is acquiring the lock ${quote(subject.name)} already (client ` +
        `${client.clientId}). A caller acquires a lock once at a time: give each concurrent branch its own ` +
        'redisson.run() or threadId.',
    )
  const bare = isBare ? (entry ?? caller.bareLevels?.(subject.objectId) ?? unscopedOf(lock)) : undefined
  const end = (level?: LevelOf<H>) => {
    bare?.end(level)
    entry?.leave()
  }
  bare?.begin()
  return lock[ACQUIRE_FOR](caller, options, entry, bare).then(
    (level) => {
      end(level)
      if (!level && options.waitTime === undefined) throw timedOutFor(lock, client.options.waitTime)
      if (level && bare && !caller.isScoped && caller.thread) warnOfEndedThread(client, subject.name)
      return level
    },
    (error) => {
      end()
      throw error
    },
  )
}

function unscopedOf<H extends AnyHold>(lock: Acquirable<H>): BareLevels<LevelOf<H>> {
  lock.unscoped ??= new BareLevels()
  return lock.unscoped
}

/** The error of a call that has to acquire the lock, and whose wait was over. */
export function timedOutFor(
  { subject, client }: Pick<Acquirable<never>, 'client' | 'subject'>,
  waitTime = 0,
) {
  return timedOut('lock', subject.name, waitTime, client.clientId)
}

/** The error of a method that has no lock. */
export function takenOut(): TypeError {
  return new TypeError('the method was taken out of its lock: write lock.lock(), and not const { lock } = …')
}
