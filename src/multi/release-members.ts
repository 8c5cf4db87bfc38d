import type { Clock } from '../util/clock'
import { withTimeout } from '../util/timeout'
import type { Part } from './try-member'

/**
 * How long a caller waits for the releases of members, in ms. A release that takes longer goes on in the
 * background.
 */
const LONGEST_WAIT_FOR_RELEASES = 1_000

/**
 * Releases all parts at once. Reports no errors, because each member retries its release in the background.
 */
export async function releaseParts(parts: readonly Part[], clock: Clock): Promise<void> {
  if (parts.length === 0) return
  const releases = parts.map(async ({ hold }) => await hold.unlock())
  await settledInTime(releases, clock)
}

/** Resolves when all releases have settled, or when the wait for them is over. */
export async function settledInTime(releases: readonly Promise<void>[], clock: Clock): Promise<void> {
  await withTimeout<unknown>(Promise.allSettled(releases), LONGEST_WAIT_FOR_RELEASES, clock, () => {})
}
