import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Asks again and again until the answer is yes. A check that throws counts as "not yet", for servers
 * refuse connections while they start; what it threw last is part of the error when time is up.
 */
export async function waitUntil(
  what: string,
  check: () => boolean | Promise<boolean>,
  timeoutMs = 15_000,
  everyMs = 20,
): Promise<void> {
  const deadline = performance.now() + timeoutMs
  let lastFailure: unknown
  for (;;) {
    try {
      if (await check()) return
      lastFailure = undefined
    } catch (failure) {
      lastFailure = failure
    }
    if (performance.now() > deadline) {
      throw new Error(`Waited ${timeoutMs} ms in vain until ${what}`, { cause: lastFailure })
    }
    await sleep(everyMs)
  }
}
