import { setTimeout as sleep } from 'node:timers/promises'

/** How long the baselines wait between two looks: 20 a second, as common recipes have it. */
export const POLL_DELAY = 50

/** The lease of the baselines, which never renew it. */
export const LEASE = 30_000

export async function poll(tryOnce: () => Promise<boolean>): Promise<void> {
  while (!(await tryOnce())) await sleep(POLL_DELAY)
}
