import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SubjectClient } from '../subjects/subject'
import { epochNow } from './epoch'
import { heapAfterCollecting } from './heap'
import type { HeldLocksResult, HeldLocksWork } from './protocol'

/** How many are taken at a time: enough to keep the connection busy. */
const AT_A_TIME = 500

/** How often the delay of the event loop is looked at, in ms. */
const RESOLUTION = 5

/** How many are to be taken by then. */
function dueBy(elapsedMs: number, { locks, spreadMs }: HeldLocksWork): number {
  return spreadMs === undefined ? locks.length : Math.floor(locks.length * Math.min(1, elapsedMs / spreadMs))
}

export function prepareHeldLocks(client: SubjectClient, work: HeldLocksWork) {
  return async (start: number): Promise<HeldLocksResult> => {
    await sleep(Math.max(0, start - epochNow()))
    const heapBefore = heapAfterCollecting()
    const beganTaking = performance.now()
    for (let taken = 0; taken < work.locks.length; ) {
      const until = Math.min(taken + AT_A_TIME, dueBy(performance.now() - beganTaking, work))
      await Promise.all(work.locks.slice(taken, until).map((name) => client.caller(name).acquire()))
      if (until === taken) await sleep(1)
      taken = until
    }
    const takingMs = performance.now() - beganTaking
    const heapBytes = heapAfterCollecting() - heapBefore
    const early = start + work.warmupMs - epochNow()
    if (early < 0)
      throw new Error(`taking ${work.locks.length} locks took ${Math.round(takingMs)} ms, too long`)
    await sleep(early)
    const delay = monitorEventLoopDelay({ resolution: RESOLUTION })
    const cpuBefore = process.cpuUsage()
    delay.enable()
    await sleep(work.measureMs)
    delay.disable()
    const { user, system } = process.cpuUsage(cpuBefore)
    // The histogram has the time between two looks, of which the resolution is no delay.
    const late = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - RESOLUTION)
    return {
      takingMs,
      cpuSeconds: (user + system) / 1e6,
      delayP99Ms: late(delay.percentile(99)),
      delayMaxMs: late(delay.max),
      heapBytes,
    }
  }
}
