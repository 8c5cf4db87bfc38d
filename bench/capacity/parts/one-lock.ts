import { setTimeout as sleep } from 'node:timers/promises'
import { lockChannel } from '../../../src/locks/hash-lock-scripts'
import { MAX_COHORT_DURATION, MAX_LOCAL_HANDOFFS } from '../../../src/waiting/cohort'
import { runCallers } from '../../driver/callers'
import { assertSound, callersMeasuring, RLOCK, ratesOf, type Surroundings } from '../surroundings'

/** By which a cohort ends, as the measured code has them. */
export interface CohortBounds {
  readonly mostHandoffs: number
  readonly longestCohortMs: number
}

export const COHORT_BOUNDS: CohortBounds = {
  mostHandoffs: MAX_LOCAL_HANDOFFS,
  longestCohortMs: MAX_COHORT_DURATION,
}

/** Everybody wants the same lock. */
export interface OneLockRow {
  readonly processes: number
  /** In each process. */
  readonly callers: number
  readonly holdMs: number
  readonly sectionsPerSecond: number
  readonly commandsPerSection: number
  /** A cohort: from an acquisition that anybody could have made to the release that everybody hears of. */
  readonly sectionsPerCohort: number
  /** Tries that found the lock held, or came second. */
  readonly failedTriesPerCohort: number
  /** Releases published, and how many processes the server sent each to. */
  readonly messagesPerSecond: number
  readonly listeners: number
  readonly serverCpu: number
  readonly clientCpu: number
}

const PROCESSES = [1, 2, 4, 8]
const LOADS = [
  { callers: 4, holdMs: 0 },
  { callers: 4, holdMs: 5 },
  { callers: 4, holdMs: 20 },
  { callers: 1, holdMs: 0 },
]

export async function measureOneLock(around: Surroundings): Promise<OneLockRow[]> {
  const rows: OneLockRow[] = []
  for (const load of LOADS)
    for (const processes of PROCESSES) {
      const { callers, holdMs } = load
      around.onProgress(`one lock: ${processes} processes of ${callers} callers, sections of ${holdMs} ms`)
      rows.push(await measureOne(around, { processes, ...load }))
    }
  return rows
}

async function measureOne(
  around: Surroundings,
  load: { processes: number; callers: number; holdMs: number },
): Promise<OneLockRow> {
  const measuring = callersMeasuring(around)
  const [{ results, seen }, listeners] = await Promise.all([
    runCallers(RLOCK, { ...load, locks: 1 }, around.single, measuring),
    mostListeners(around, measuring.warmupMs(RLOCK, load.processes) + measuring.measureMs),
  ])
  assertSound(results)
  const { sections, clientCpu } = ratesOf(results)
  // Of these scripts, each that tries for the lock calls PTTL once, each that ends a section HDEL once.
  const calls = (name: string) => seen.calls.get(name) ?? 0
  const cohorts = calls('publish')
  return {
    ...load,
    sectionsPerSecond: sections,
    commandsPerSection: seen.clientCommands / sections,
    sectionsPerCohort: calls('hdel') / cohorts,
    failedTriesPerCohort: Math.max(0, calls('pttl') - cohorts) / cohorts,
    messagesPerSecond: cohorts,
    listeners,
    serverCpu: seen.cpu,
    clientCpu,
  }
}

/** How many connections listened to the lock's channel at once, looked at now and then for so long. */
async function mostListeners({ single }: Surroundings, forMs: number): Promise<number> {
  const until = performance.now() + forMs
  let most = 0
  while (performance.now() < until) {
    const [, count] = (await single.servers[0]!.pubsub('NUMSUB', lockChannel('bench:0'))) as [string, number]
    most = Math.max(most, Number(count))
    await sleep(100)
  }
  return most
}
