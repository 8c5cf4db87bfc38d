import type { LockMember } from '../api/errors'
import type { Clock } from '../util/clock'
import { codeOf } from '../util/error-code'
import { withTimeout } from '../util/timeout'
import type { MemberGroup } from './member'
import { failureOf, lossError, stateOf } from './member-states'
import type { Granted } from './try-member'

/**
 * How long a caller waits for the releases of members, in ms. A release that takes longer goes on in the
 * background.
 */
const LONGEST_WAIT_FOR_RELEASES = 1_000

/** The codes of errors that say that a hold was gone at its release. */
const LOST: unknown[] = ['ILLEGAL_MONITOR_STATE', 'LOCK_LOST']

/**
 * Releases all of them at once. Reports no errors, because each member retries its release in the background.
 */
export async function releaseMembers(grants: readonly Granted[], clock: Clock): Promise<void> {
  const releases = grants.map(async ({ hold }) => await hold.unlock())
  await settledInTime(releases, clock)
}

/**
 * Releases all of them at once, even if some fail, and then reports. So few members that the others are a
 * quorum are waited for a second only; their releases go on in the background.
 */
export async function releaseAndReport(
  { group, grants }: { readonly group: MemberGroup; readonly grants: readonly Granted[] },
  threadId: number,
): Promise<void> {
  const { client, needed, spare } = group
  const states = grants.map(({ member }): LockMember => stateOf(member, 'unreachable'))
  const errors: unknown[] = []
  const releases = grants.map(async ({ member, hold }, index) => {
    try {
      await hold.unlock()
      states[index] = stateOf(member, 'released')
    } catch (error) {
      // Lost, or other code released the member by itself.
      const isLost = LOST.includes(codeOf(error))
      states[index] = stateOf(member, isLost ? 'lost' : failureOf(error), error)
      errors.push(error)
    }
  })
  const count = (wanted: string) => states.filter(({ state }) => state === wanted).length
  // Too few members are left for the hold to have lasted until now.
  const isLost = () => count('lost') > grants.length - needed
  // Others can acquire enough members, whatever becomes of the rest.
  const isFree = () => grants.length - count('released') <= spare
  await settledInTime(releases, client.clock)
  if (!isLost() && !isFree()) await Promise.all(releases)
  if (isLost()) throw lossError(group, threadId, states, errors)
  if (!isFree()) throw errors[0]
}

/** Resolves when all releases have settled, or when the wait for them is over. */
async function settledInTime(releases: readonly Promise<void>[], clock: Clock): Promise<void> {
  await withTimeout<unknown>(Promise.allSettled(releases), LONGEST_WAIT_FOR_RELEASES, clock, () => {})
}
