import { setTimeout as sleep } from 'node:timers/promises'
import { lockChannel } from '../../src/locks/hash-lock-kind'
import { type CallersSetup, measureCallers } from '../driver/callers'
import { measureHeldLocks } from '../driver/held-locks'
import { measureIdleWaiters } from '../driver/idle-waiters'
import type { Place } from '../driver/measuring'
import { spreadOf } from '../driver/statistics'
import type { Command } from '../driver/worker-process'
import type { Measured } from '../scenarios/scenario'
import { LOCK } from '../subjects/catalogue'

/** Figures by their names, and what they were measured with. */
export type Row = Readonly<Record<string, number>>

/** Each may be measured again without the others. */
export interface Part {
  readonly name: 'own-locks' | 'one-lock' | 'waiters' | 'million'
  measure(around: Surroundings): Promise<Row[]>
}

interface Surroundings {
  readonly single: Place
  readonly node: Command
}

const WINDOW = 2_000
const WARM_UP = 1_000
/** So many warm up in that time on a small machine. */
const FEW_PROCESSES = 4
const warmupMs = (processes: number) => WARM_UP * Math.max(1, processes / FEW_PROCESSES)

async function callers({ single, node }: Surroundings, setup: CallersSetup): Promise<Row> {
  const measuring = {
    command: () => node,
    warmupMs: (_: unknown, processes = 1) => warmupMs(processes),
    measureMs: WINDOW,
  }
  return sound(await measureCallers(LOCK, setup, single, measuring))
}

/** A part whose figures come from work that failed is worth nothing. */
function sound({ figures, troubles }: Measured): Row {
  if (troubles[0]) throw new Error(troubles[0].text)
  return figures
}

const ROUNDS = 2
const OWN_LOCKS = [
  [1, 1],
  [1, 8],
  [1, 64],
  [8, 1],
  [8, 8],
] as const

/** Every caller takes a lock that no other caller wants: what acquiring and releasing cost, and nothing besides. */
async function measureOwnLocks(around: Surroundings): Promise<Row[]> {
  const rounds: Row[][] = []
  for (let round = 1; round <= ROUNDS; round++) {
    const rows: Row[] = []
    for (const [processes, count] of OWN_LOCKS) {
      const figures = await callers(around, { processes, callers: count, locks: count, apart: true })
      const { sectionsPerSecond, serverCpu, clientUsPerSection } = figures
      const clientCpu = (sectionsPerSecond! * clientUsPerSection!) / 1e6
      rows.push({ sectionsPerSecond: sectionsPerSecond!, serverCpu: serverCpu!, clientCpu })
    }
    rounds.push(rows)
  }
  return OWN_LOCKS.map(([processes, count], index) => {
    const median = (name: string) => spreadOf(rounds.map((rows) => rows[index]![name]!))!.median
    const names = ['sectionsPerSecond', 'serverCpu', 'clientCpu']
    return { processes, callers: count, ...Object.fromEntries(names.map((name) => [name, median(name)])) }
  })
}

const ONE_LOCK = [
  ...[1, 2, 4, 8].map((processes) => ({ processes, callers: 4, holdMs: 0 })),
  ...[1, 8].map((processes) => ({ processes, callers: 4, holdMs: 5 })),
  ...[1, 8].map((processes) => ({ processes, callers: 1, holdMs: 0 })),
]

/** All want the same lock. */
async function measureOneLock(around: Surroundings): Promise<Row[]> {
  const rows: Row[] = []
  for (const load of ONE_LOCK) {
    const [figures, listeners] = await Promise.all([
      callers(around, { ...load, locks: 1 }),
      mostListeners(around, warmupMs(load.processes) + WINDOW),
    ])
    const { sectionsPerSecond, clientCommandsPerSection, messagesPerSection } = figures
    rows.push({
      ...load,
      sectionsPerSecond: sectionsPerSecond!,
      commandsPerSection: clientCommandsPerSection!,
      messagesPerSecond: messagesPerSection! * sectionsPerSecond!,
      listeners,
    })
  }
  return rows
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

const WAITERS = { processes: 4, waiters: 250 }

async function measureWaiters({ single, node }: Surroundings): Promise<Row[]> {
  const measuring = { single, command: () => node, measureMs: WINDOW }
  const { idleCommandsPerSecond, heapPerWaiter } = sound(await measureIdleWaiters(LOCK, WAITERS, measuring))
  const waiters = WAITERS.processes * WAITERS.waiters
  return [
    {
      processes: WAITERS.processes,
      waiters,
      commandsPerSecond: idleCommandsPerSecond!,
      heapPerWaiter: heapPerWaiter!,
    },
  ]
}

/** For a million locks; Node's own bound depends on the machine. */
const HEAP_MB = 6_144
/** Slower than a busy machine of two cores; one that is slower still is notified. */
const TAKEN_AT_LEAST = 14_000

async function measureMillion({ single, node }: Surroundings): Promise<Row[]> {
  const locks = 1_000_000
  const command = { ...node, args: [`--max-old-space-size=${HEAP_MB}`, ...node.args] }
  const measuring = { single, command: () => command }
  const figures = sound(await measureHeldLocks(LOCK, locks, measuring, { atLeastPerSecond: TAKEN_AT_LEAST }))
  const { renewalCommandsPerSecond, serverCpu, clientCpu, heapPerLock, serverBytesPerLock } = figures
  return [
    {
      locks,
      commandsPerSecond: renewalCommandsPerSecond!,
      serverCpu: serverCpu!,
      clientCpu: clientCpu!,
      heapPerLock: heapPerLock!,
      serverBytesPerLock: serverBytesPerLock!,
    },
  ]
}

export const PARTS: readonly Part[] = [
  { name: 'own-locks', measure: measureOwnLocks },
  { name: 'one-lock', measure: measureOneLock },
  { name: 'waiters', measure: measureWaiters },
  { name: 'million', measure: measureMillion },
]
