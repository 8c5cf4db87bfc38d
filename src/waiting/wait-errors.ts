import { LockNotReplicatedError, LockTimeoutError, RedisUnavailableError } from '../api/errors'
import { quote } from '../util/quote'

/** The object and the hold that a caller waits for, for messages. */
export function nameOf({ subject }: { readonly subject: string }, threadId: number | undefined): string {
  return threadId === undefined ? subject : `${subject} (thread id ${threadId})`
}

/** For a caller whose acquisition no replica acknowledged in `tries` tries. */
export function notReplicated(subject: string, client: string, tries: number): LockNotReplicatedError {
  const often = tries === 1 ? '' : ` in ${tries} tries`
  return new LockNotReplicatedError(
    `No replica acknowledged the acquisition of ${subject}${often} (client ${client}). The client ` +
      'releases it. Check the replication, or set checkLockSyncedSlaves: false to accept acquisitions that ' +
      'no replica has.',
  )
}

/**
 * For a caller whose wait is over, and the server has not answered whether the lock is free. `cause`: why,
 * where it said so.
 */
export function unanswered(subject: string, client: string, cause?: Error): RedisUnavailableError {
  const why = cause ? `: ${cause.message}` : ''
  return new RedisUnavailableError(
    `Redis did not answer for ${subject} before the wait was over (client ${client})${why}. Nothing was ` +
      'acquired: try again, or wait for longer.',
    cause && { cause },
  )
}

/** For a call without a boolean for its result. */
export function timedOut(what: string, name: string, waitTime: number, clientId: string): LockTimeoutError {
  return new LockTimeoutError(
    `The wait for the ${what} ${quote(name)} ended after its waitTime of ${waitTime} ms (client ` +
      `${clientId}). Nothing was acquired or run. Wait longer, or use tryAcquire() where this is an ` +
      'ordinary result.',
    name,
  )
}
