import { LockNotReplicatedError, RedisUnavailableError } from '../api/errors'

/** An acquisition that no replica acknowledged is asked for again, so many times in all. */
export const TRIES_FOR_ACKNOWLEDGEMENT = 3

/** For the caller whose acquisition no replica acknowledged. */
export function notReplicated(subject: string, tries: number): LockNotReplicatedError {
  const often = tries === 1 ? '' : `, ${tries} times in a row`
  return new LockNotReplicatedError(
    `No replica acknowledged the acquisition of ${subject}${often}: it was released again. ` +
      'With checkLockSyncedSlaves: false such acquisitions count',
  )
}

/** For a caller whose wait is over while the server is out of reach, or declines (`cause`). */
export function unavailable(
  subject: string,
  clientId: string,
  cause: Error | undefined,
): RedisUnavailableError {
  const why = cause ? `: ${cause.message}` : ''
  return new RedisUnavailableError(
    `Redis was unavailable when the waitTime for ${subject} had elapsed (client ${clientId})${why}`,
    cause && { cause },
  )
}

/** For a caller whose wait is over before the server has said whether a try would be granted. */
export function unanswered(subject: string): RedisUnavailableError {
  return new RedisUnavailableError(`Redis did not answer for ${subject} before the wait was over`)
}
