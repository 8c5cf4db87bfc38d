import { setTimeout as sleep } from 'node:timers/promises'
import type { SubjectClient } from '../subjects/subject'
import { epochNow } from './epoch'
import type { FirstCyclesResult, FirstCyclesWork } from './protocol'

export function prepareFirstCycles(client: SubjectClient, work: FirstCyclesWork) {
  const caller = client.caller(work.locks[0]!)
  return async (start: number): Promise<FirstCyclesResult> => {
    await sleep(Math.max(0, start - epochNow()))
    const cpuBefore = process.cpuUsage()
    const began = performance.now()
    for (let cycle = 0; cycle < work.cycles; cycle++) {
      await caller.acquire()
      await caller.release()
    }
    const seconds = (performance.now() - began) / 1_000
    const { user, system } = process.cpuUsage(cpuBefore)
    return { seconds, cpuSeconds: (user + system) / 1e6 }
  }
}
