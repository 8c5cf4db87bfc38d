import type { Redis } from 'ioredis'
import type { RLock } from '../../src/index'

export interface FlowsReport {
  readonly sections: number
  readonly longestWaitMs: number
}

/**
 * Sends flows through one shared lock object, outside any scope, until each has done its sections. A section
 * reads a plain key and writes it back one higher, so that two at a time inside lose an update.
 */
export async function runFlows(
  lock: RLock,
  redis: Redis,
  counterKey: string,
  { flows, sectionsEach }: { flows: number; sectionsEach: number },
): Promise<FlowsReport> {
  let longestWaitMs = 0
  let sections = 0
  const flow = async () => {
    for (let i = 0; i < sectionsEach; i++) {
      const asked = performance.now()
      const hold = await lock.acquire()
      longestWaitMs = Math.max(longestWaitMs, performance.now() - asked)
      const before = Number(await redis.get(counterKey))
      await redis.set(counterKey, before + 1)
      sections++
      await hold.unlock()
    }
  }
  await Promise.all(Array.from({ length: flows }, flow))
  return { sections, longestWaitMs }
}
