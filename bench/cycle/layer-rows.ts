import { startStandalone } from '../../test/kit/servers/standalone'
import { type Spread, spreadOf } from '../driver/statistics'
import { type Layer, openLayers } from './layers'

export const ROUNDS = 40
const WARM_UP_ROUNDS = 3
export const WINDOW_MS = 150

export interface LayerRow {
  readonly title: string
  readonly cycleUs: Spread
  /** Of the first row. */
  readonly ofLimit: Spread
  /** Of the client's process alone. */
  readonly cpuUs: Spread
}

interface Window {
  readonly cycleUs: number
  readonly cpuUs: number
}

/** Layer by layer, in turns. */
export interface LayerRows {
  readonly cycle: readonly LayerRow[]
  readonly handoff: readonly LayerRow[]
  readonly ways: readonly LayerRow[]
}

export async function measureLayers(onProgress: (text: string) => void): Promise<LayerRows> {
  const server = await startStandalone()
  try {
    const { cycle, handoff, ways, close } = await openLayers(server.url)
    try {
      return {
        cycle: await rowsOf(cycle, (round) => onProgress(`one caller: ${round}`)),
        handoff: await rowsOf(handoff, (round) => onProgress(`one lock: ${round}`)),
        ways: await rowsOf(ways, (round) => onProgress(`ways: ${round}`)),
      }
    } finally {
      await close()
    }
  } finally {
    await server.stop()
  }
}

async function rowsOf(layers: readonly Layer[], onProgress: (text: string) => void): Promise<LayerRow[]> {
  const windows = layers.map((): Window[] => [])
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
    onProgress(`round ${Math.max(round + 1, 0)} of ${ROUNDS}`)
    for (const [index, layer] of layers.entries()) {
      const measured = await windowOf(layer)
      if (round >= 0) windows[index]!.push(measured)
    }
  }
  return layers.map(({ title }, index) => {
    const own = windows[index]!
    return {
      title,
      cycleUs: spreadOf(own.map(({ cycleUs }) => cycleUs))!,
      ofLimit: spreadOf(own.map(({ cycleUs }, round) => windows[0]![round]!.cycleUs / cycleUs))!,
      cpuUs: spreadOf(own.map(({ cpuUs }) => cpuUs))!,
    }
  })
}

async function windowOf(layer: Layer): Promise<Window> {
  const cpuBefore = process.cpuUsage()
  const started = performance.now()
  const times = await layer.run(started + WINDOW_MS)
  const { user, system } = process.cpuUsage(cpuBefore)
  return { cycleUs: ((performance.now() - started) * 1_000) / times, cpuUs: (user + system) / times }
}
