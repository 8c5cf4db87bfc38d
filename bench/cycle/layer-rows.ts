import { startStandalone } from '../../test/servers/standalone'
import { type Spread, spreadOf } from '../driver/statistics'
import { type Layer, openLayers } from './layers'

export const ROUNDS = 40
const WARM_UP_ROUNDS = 3
export const WINDOW_MS = 150

export interface LayerRow {
  readonly title: string
  readonly cycleUs: Spread
  readonly ofLimit: Spread
  /** Of the client's process alone. */
  readonly cpuUs: Spread
}

interface Window {
  readonly cycleUs: number
  readonly cpuUs: number
}

/** The cycle of one flow, layer by layer, in turns. */
export async function measureLayers(onProgress: (text: string) => void): Promise<LayerRow[]> {
  const server = await startStandalone()
  const { titles, windows } = await windowsAt(server.url, onProgress).finally(() => server.stop())
  return titles.map((title, index) => {
    const own = windows[index]!
    return {
      title,
      cycleUs: spreadOf(own.map(({ cycleUs }) => cycleUs))!,
      ofLimit: spreadOf(own.map(({ cycleUs }, round) => windows[0]![round]!.cycleUs / cycleUs))!,
      cpuUs: spreadOf(own.map(({ cpuUs }) => cpuUs))!,
    }
  })
}

interface Measured {
  readonly titles: readonly string[]
  /** Of each layer, by round. */
  readonly windows: readonly (readonly Window[])[]
}

async function windowsAt(url: string, onProgress: (text: string) => void): Promise<Measured> {
  const { layers, close } = await openLayers(url)
  try {
    const windows = layers.map((): Window[] => [])
    for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
      onProgress(`one flow: round ${Math.max(round + 1, 0)} of ${ROUNDS}`)
      for (const [index, layer] of layers.entries()) {
        const measured = await windowOf(layer)
        if (round >= 0) windows[index]!.push(measured)
      }
    }
    return { titles: layers.map(({ title }) => title), windows }
  } finally {
    await close()
  }
}

async function windowOf(layer: Layer): Promise<Window> {
  const cpuBefore = process.cpuUsage()
  const started = performance.now()
  let cycles = 0
  while (performance.now() - started < WINDOW_MS) {
    await layer.cycle()
    cycles++
  }
  const { user, system } = process.cpuUsage(cpuBefore)
  return { cycleUs: ((performance.now() - started) * 1_000) / cycles, cpuUs: (user + system) / cycles }
}
