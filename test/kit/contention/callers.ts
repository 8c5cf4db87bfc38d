import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import type { RLock } from '../../../src/index'

export interface CallersReport {
  readonly sections: number
  readonly longestWaitMs: number
}

export interface CallersWork {
  readonly callers: number
  /** No end of them unless said otherwise. */
  readonly sectionsEach?: number
  /** No caller asks again once this time is over; no end of it unless said otherwise. */
  readonly durationMs?: number
  /** How long a section lasts beyond its two commands; no longer unless said otherwise. */
  readonly holdMs?: number
}

/**
 * Sends callers through one shared lock object, outside any scope, until each has done its sections or the time is
 * over. A section reads a plain key and writes it back one higher, so that two at a time inside lose an update.
 */
export async function runCallers(
  lock: RLock,
  redis: Redis,
  counterKey: string,
  { callers, sectionsEach = Infinity, durationMs = Infinity, holdMs = 0 }: CallersWork,
): Promise<CallersReport> {
  let longestWaitMs = 0
  let sections = 0
  const end = performance.now() + durationMs
  const caller = async () => {
    for (let i = 0; i < sectionsEach; i++) {
      const asked = performance.now()
      if (asked >= end) return
      const hold = await lock.acquire()
      longestWaitMs = Math.max(longestWaitMs, performance.now() - asked)
      const before = Number(await redis.get(counterKey))
      if (holdMs > 0) await sleep(holdMs)
      await redis.set(counterKey, before + 1)
      sections++
      await hold.unlock()
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
  return { sections, longestWaitMs }
}
