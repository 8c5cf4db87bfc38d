import { setTimeout as sleep } from 'node:timers/promises'
import type { SubjectClient } from '../subjects/subject'
import { epochNow } from './epoch'
import type { HandoffResult, HandoffWork } from './protocol'

/** What still waits for the other when the window ends may wait until that process has ended, or longer. */
const GRACE = 100

export function prepareHandoff(client: SubjectClient, work: HandoffWork) {
  const caller = client.caller(work.locks[0]!)
  const unlocks: number[] = []
  const entries: number[] = []
  return async (start: number): Promise<HandoffResult> => {
    const from = start + work.warmupMs
    const until = from + work.measureMs
    const stayAway = () => sleep(work.holdMs / 2)
    const takeTurns = async () => {
      if (work.role === 'taker') await stayAway()
      while (epochNow() < until) {
        await caller.acquire()
        const entered = epochNow()
        await sleep(work.holdMs + Math.random() * (work.jitterMs ?? 0))
        if (entered >= from && entered < until) {
          entries.push(entered)
          unlocks.push(epochNow())
        }
        await caller.release()
        await stayAway()
      }
    }
    await sleep(Math.max(0, start - epochNow()))
    await Promise.race([takeTurns(), sleep(until - epochNow() + GRACE)])
    return { unlocks, entries }
  }
}
