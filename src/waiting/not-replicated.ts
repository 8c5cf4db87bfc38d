import { LockNotReplicatedError } from '../api/errors'

/** An acquisition that no replica acknowledged is asked for again, so many times in all. */
export const TRIES_FOR_ACKNOWLEDGEMENT = 3

/** For the caller whose acquisition no replica acknowledged. */
export function notReplicated(lockName: string, tries: number): LockNotReplicatedError {
  const often = tries === 1 ? '' : `, ${tries} times in a row`
  return new LockNotReplicatedError(
    `No replica acknowledged the acquisition of ${lockName}${often}: it was given back. ` +
      'With checkLockSyncedSlaves: false such acquisitions count',
  )
}
