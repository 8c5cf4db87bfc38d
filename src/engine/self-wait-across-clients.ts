import type { Client } from '../client/client'
import type { HoldTable } from '../ownership/caller'
import type { LogicalThread } from '../ownership/logical-thread'
import { quote } from '../util/quote'
import { warnOnce } from '../util/warn-once'
import type { Hold } from './hold'
import type { LockScripts } from './lock-scripts'

/**
 * Warns, once for each hold, when a thread has waited for a long time and it, or an ancestor, holds the lock through another
 * client. Each client is an owner of its own, so the thread waits for itself. Asks the server whether it has that hold,
 * because the other client may use another server. Does not ask again about `asked`. Returns the hold that it asked about
 * last.
 */
export function warnOfOtherClients(
  context: Client,
  scripts: LockScripts,
  thread: LogicalThread,
  asked: Hold | undefined,
): Hold | undefined {
  const hold = heldThroughAnother(context, scripts, thread)
  if (!hold || hold === asked) return asked
  scripts
    .inspect(hold.ownerField)
    .answer.then(({ value }) => {
      if (value.count > 0) warn(context, hold)
    })
    // The attempt reports a server that does not answer.
    .catch(() => {})
  return hold
}

function heldThroughAnother(context: Client, { relatedIds }: LockScripts, waiting: LogicalThread) {
  for (let thread: LogicalThread | undefined = waiting; thread; thread = thread.parent)
    for (const [client, table] of thread.holdTables as Map<object, HoldTable<Hold>>)
      for (const objectId of client === context ? [] : relatedIds) {
        const hold = table.get(objectId)?.hold
        if (hold?.state === 'held') return hold
      }
  return undefined
}

function warn(context: Client, hold: Hold) {
  // The owner field of a token lock is secret, and does not contain the client id.
  const end = hold.ownerField.lastIndexOf(`:${hold.threadId}`)
  const holder = end < 0 ? 'another client' : `the client ${hold.ownerField.slice(0, end)}`
  warnOnce(
    hold,
    'RLOCK_SELF_WAIT',
    `The lock ${quote(hold.leased.name)} is held through ${holder} (thread id ${hold.threadId}) by the same ` +
      `logical thread that waits for it through the client ${context.clientId}. Locks re-enter only within one ` +
      'client, so that thread waits for itself: use one client for each server in a process.',
  )
}
