import { setTimeout as sleep } from 'node:timers/promises'
import type { SubjectClient } from '../subjects/subject'
import { epochNow } from './epoch'
import type { LatchResult, LatchWork } from './protocol'

export function prepareLatch(client: SubjectClient, work: LatchWork) {
  return async (start: number): Promise<LatchResult> => {
    await sleep(Math.max(0, start - epochNow()))
    const last = work.locks.map(() => 0)
    const waitForAll = async () => {
      for (const [index, name] of work.locks.entries()) {
        await client.latch!(name)
        last[index] = epochNow()
      }
    }
    await Promise.all(Array.from({ length: work.callers }, waitForAll))
    return { last }
  }
}
