import { startStandalone } from '../../test/kit/servers/standalone'
import { measureHandoff } from '../driver/handoff'
import { Places } from '../driver/places'
import { type Spread, spreadOf } from '../driver/statistics'
import type { Command } from '../driver/worker-process'
import { LOCK, type Subject } from '../subjects/catalogue'
import { type Layer, openLayers } from './layers'

export const ROUNDS = 40
const WARM_UP_ROUNDS = 3
export const WINDOW_MS = 150

export interface LayerRow {
  readonly title: string
  readonly cycleUs: Spread
  /** Of the first row. */
  readonly ofLimit: Spread
}

export interface LayerRows {
  readonly cycle: readonly LayerRow[]
  readonly handoff: readonly LayerRow[]
  readonly ways: readonly LayerRow[]
}

/** Layer by layer, in turns. */
export async function measureLayers(onProgress: (text: string) => void): Promise<LayerRows> {
  const server = await startStandalone()
  const { cycle, handoff, ways, close } = await openLayers(server.url)
  try {
    return {
      cycle: await rowsOf(cycle, (round) => onProgress(`one caller: ${round}`)),
      handoff: await rowsOf(handoff, (round) => onProgress(`one lock: ${round}`)),
      ways: await rowsOf(ways, (round) => onProgress(`ways: ${round}`)),
    }
  } finally {
    await close()
    await server.stop()
  }
}

async function rowsOf(layers: readonly Layer[], onProgress: (text: string) => void): Promise<LayerRow[]> {
  const cycles = layers.map((): number[] => [])
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
    onProgress(`round ${Math.max(round + 1, 0)} of ${ROUNDS}`)
    for (const [index, layer] of layers.entries()) {
      const started = performance.now()
      const times = await layer.run(started + WINDOW_MS)
      if (round >= 0) cycles[index]!.push(((performance.now() - started) * 1_000) / times)
    }
  }
  return layers.map(({ title }, index) => ({
    title,
    cycleUs: spreadOf(cycles[index]!)!,
    ofLimit: spreadOf(cycles[index]!.map((us, round) => cycles[0]![round]! / us))!,
  }))
}

const FULL = { rounds: 5, warmupMs: 1_000, measureMs: 3_000 }
/** As in the scenario of that name: long enough that the next caller sleeps. */
const HOLD_MS = 20

/** Nothing to compare locks with, but what any of them could do at most by messages. */
const MESSAGE_LIMIT: Subject = {
  name: 'message-limit',
  title: 'a call that publishes, and a call when the message has come, by ioredis; locks nothing',
  kind: 'limit',
  runsOn: 'node',
}

export interface HandoffRow {
  readonly title: string
  readonly p50Ms: Spread
  readonly roundTrips: Spread
}

/** From the release of one process to the other inside, in turns. */
export async function measureHandoffs(
  worker: Command,
  onProgress: (text: string) => void,
  { rounds, warmupMs, measureMs } = FULL,
): Promise<HandoffRow[]> {
  const subjects = [MESSAGE_LIMIT, { ...LOCK, title: 'a lock: `hold.unlock()`, `acquire()`' }]
  const places = new Places()
  try {
    const single = await places.single()
    const measuring = { single, command: () => worker, measureMs, warmupMs: () => warmupMs, quick: false }
    const p50 = subjects.map((): number[] => [])
    const roundTrips = subjects.map((): number[] => [])
    for (let round = 1; round <= rounds; round++) {
      onProgress(`handoff: round ${round} of ${rounds}`)
      for (const [index, subject] of subjects.entries()) {
        const times = { holdMs: HOLD_MS, jitterMs: 0 }
        const found = await measureHandoff(subject, times, measuring)
        p50[index]!.push(found.p50)
        roundTrips[index]!.push(found.p50 / found.roundTripMs)
      }
    }
    return subjects.map(({ title }, index) => ({
      title,
      p50Ms: spreadOf(p50[index]!)!,
      roundTrips: spreadOf(roundTrips[index]!)!,
    }))
  } finally {
    await places.close()
  }
}
