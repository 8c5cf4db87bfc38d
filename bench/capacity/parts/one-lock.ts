import { setTimeout as sleep } from 'node:timers/promises'
import { lockChannel } from '../../../src/names/redis-names'
import { LONGEST_TURN, MOST_HAND_OVERS } from '../../../src/waiting/turn'
import { runFlows } from '../../driver/flows'
import { assertSound, flowsMeasuring, RLOCK, ratesOf, type Surroundings } from '../surroundings'

/** By which a turn ends, as the measured code has them. */
export interface TurnBounds {
  readonly mostHandOvers: number
  readonly longestTurnMs: number
}

export const TURN_BOUNDS: TurnBounds = { mostHandOvers: MOST_HAND_OVERS, longestTurnMs: LONGEST_TURN }

/** Everybody wants the same lock. */
export interface OneLockRow {
  readonly processes: number
  /** In each process. */
  readonly flows: number
  readonly holdMs: number
  readonly sectionsPerSecond: number
  readonly commandsPerSection: number
  /** A turn: from an acquisition that anybody could have made to the release that everybody hears of. */
  readonly sectionsPerTurn: number
  /** Tries that found the lock held, or came second. */
  readonly failedTriesPerTurn: number
  /** Releases published, and how many processes the server sent each to. */
  readonly messagesPerSecond: number
  readonly listeners: number
  readonly serverCpu: number
  readonly clientCpu: number
}

const PROCESSES = [1, 2, 4, 8]
const LOADS = [
  { flows: 4, holdMs: 0 },
  { flows: 4, holdMs: 5 },
  { flows: 4, holdMs: 20 },
  { flows: 1, holdMs: 0 },
]

export async function measureOneLock(around: Surroundings): Promise<OneLockRow[]> {
  const rows: OneLockRow[] = []
  for (const load of LOADS)
    for (const processes of PROCESSES) {
      const { flows, holdMs } = load
      around.onProgress(`one lock: ${processes} processes of ${flows} flows, sections of ${holdMs} ms`)
      rows.push(await measureOne(around, { processes, ...load }))
    }
  return rows
}

async function measureOne(
  around: Surroundings,
  load: { processes: number; flows: number; holdMs: number },
): Promise<OneLockRow> {
  const measuring = flowsMeasuring(around)
  const [{ results, seen }, listeners] = await Promise.all([
    runFlows(RLOCK, { ...load, locks: 1 }, around.single, measuring),
    mostListeners(around, measuring.warmupMs(RLOCK, load.processes) + measuring.measureMs),
  ])
  assertSound(results)
  const { sections, clientCpu } = ratesOf(results)
  // Of these scripts, each that tries for the lock calls PTTL once, each that ends a section HDEL once.
  const calls = (name: string) => seen.calls.get(name) ?? 0
  const turns = calls('publish')
  return {
    ...load,
    sectionsPerSecond: sections,
    commandsPerSection: seen.clientCommands / sections,
    sectionsPerTurn: calls('hdel') / turns,
    failedTriesPerTurn: Math.max(0, calls('pttl') - turns) / turns,
    messagesPerSecond: turns,
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
