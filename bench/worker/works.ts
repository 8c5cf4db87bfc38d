// What a worker does but taking turns (worker/callers.ts): each makes ready, and answers what does the work from the given time on.

import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SubjectClient } from '../subjects/subject'
import { epochNow } from './epoch'
import type {
  FirstCyclesResult,
  FirstCyclesWork,
  HandoffResult,
  HandoffWork,
  HeldLocksResult,
  HeldLocksWork,
  IdleWaitersResult,
  IdleWaitersWork,
  LatchResult,
  LatchWork,
} from './protocol'

const until = (start: number) => sleep(Math.max(0, start - epochNow()))

/** Needs --expose-gc; what a finalizer lets go is collected by the second call only. */
function heapAfterCollecting(): number {
  if (!globalThis.gc) throw new Error('the worker runs without --expose-gc')
  globalThis.gc()
  globalThis.gc()
  return process.memoryUsage().heapUsed
}

export function prepareFirstCycles(client: SubjectClient, work: FirstCyclesWork) {
  const caller = client.caller(work.locks[0]!)
  return async (start: number): Promise<FirstCyclesResult> => {
    await until(start)
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

/** What still waits for the other when the window ends may wait until that process has ended, or longer. */
const GRACE = 100

export function prepareHandoff(client: SubjectClient, work: HandoffWork) {
  const caller = client.caller(work.locks[0]!)
  const unlocks: number[] = []
  const entries: number[] = []
  return async (start: number): Promise<HandoffResult> => {
    const from = start + work.warmupMs
    const end = from + work.measureMs
    const stayAway = () => sleep(work.holdMs / 2)
    const takeTurns = async () => {
      if (work.role === 'taker') await stayAway()
      while (epochNow() < end) {
        await caller.acquire()
        const entered = epochNow()
        await sleep(work.holdMs + Math.random() * (work.jitterMs ?? 0))
        if (entered >= from && entered < end) {
          entries.push(entered)
          unlocks.push(epochNow())
        }
        await caller.release()
        await stayAway()
      }
    }
    await until(start)
    await Promise.race([takeTurns(), sleep(end - epochNow() + GRACE)])
    return { unlocks, entries }
  }
}

/** How many are taken at a time: enough to keep the connection busy. */
const AT_A_TIME = 500

/** How often the delay of the event loop is looked at, in ms. */
const RESOLUTION = 5

export function prepareHeldLocks(client: SubjectClient, work: HeldLocksWork) {
  return async (start: number): Promise<HeldLocksResult> => {
    await until(start)
    const heapBefore = heapAfterCollecting()
    const beganTaking = performance.now()
    for (let taken = 0; taken < work.locks.length; taken += AT_A_TIME) {
      const names = work.locks.slice(taken, taken + AT_A_TIME)
      await Promise.all(names.map((name) => client.caller(name).acquire()))
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

export function prepareIdleWaiters(client: SubjectClient, work: IdleWaitersWork) {
  return async (start: number): Promise<IdleWaitersResult> => {
    await until(start)
    const before = heapAfterCollecting()
    let ended = 0
    const errorMessages: string[] = []
    for (let index = 0; index < work.callers; index++)
      client
        .caller(work.locks[index % work.locks.length]!)
        .acquire()
        .catch((error) => {
          if (errorMessages.length < 3) errorMessages.push(String(error))
        })
        .finally(() => ended++)
    await sleep(start + work.warmupMs + work.measureMs - epochNow())
    return { heapBytes: heapAfterCollecting() - before, ended, errorMessages }
  }
}

export function prepareLatch(client: SubjectClient, work: LatchWork) {
  return async (start: number): Promise<LatchResult> => {
    await until(start)
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
