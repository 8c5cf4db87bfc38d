// npm run bench:cycle: where the time of one flow's cycle goes, and docs/cycle.md filled in from it.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { liveLine } from '../../test/endurance/live-line'
import { startStandalone } from '../../test/servers/standalone'
import { optionsOrExit } from '../../test/support/command-line'
import { describeMachine, type Machine } from '../driver/machine'
import { buildPackage } from '../driver/programs'
import { type Spread, spreadOf } from '../driver/statistics'
import { shown, table } from '../report/markdown'
import { fillRegions } from '../report/regions'
import { type Layer, openLayers } from './layers'

const RESULTS = join(__dirname, '../results/cycle.json')
const PAGE = join(__dirname, '../../docs/cycle.md')
const ROUNDS = 40
const WARM_UP_ROUNDS = 3
const WINDOW_MS = 150

const USAGE = `usage: npm run bench:cycle -- [--report]

Measures where the time of one flow's cycle goes, from two calls that lock nothing to a whole lock: builds the
package, starts a Redis server of its own, writes the figures to bench/results/cycle.json and into docs/cycle.md.
Takes some forty seconds.

  --report  measures nothing: fills the page in anew

Exit code: 0 when everything was measured, 1 when something failed, 2 for bad arguments.`

interface Row {
  readonly title: string
  readonly cycleUs: Spread
  readonly ofLimit: Spread
  /** Of the client's process alone. */
  readonly cpuUs: Spread
}

interface Results {
  readonly date: string
  readonly machine: Machine
  readonly node: string
  readonly rounds: number
  readonly windowMs: number
  readonly rows: readonly Row[]
}

interface Window {
  readonly cycleUs: number
  readonly cpuUs: number
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
      onProgress(`round ${Math.max(round + 1, 0)} of ${ROUNDS}`)
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

async function measure(): Promise<Results> {
  const line = liveLine()
  line.show('building')
  buildPackage()
  const machine = describeMachine()
  const server = await startStandalone()
  const { titles, windows } = await windowsAt(server.url, line.show)
    .finally(() => server.stop())
    .finally(line.clear)
  const rows = titles.map((title, index): Row => {
    const own = windows[index]!
    return {
      title,
      cycleUs: spreadOf(own.map(({ cycleUs }) => cycleUs))!,
      ofLimit: spreadOf(own.map(({ cycleUs }, round) => windows[0]![round]!.cycleUs / cycleUs))!,
      cpuUs: spreadOf(own.map(({ cpuUs }) => cpuUs))!,
    }
  })
  const date = new Date().toISOString()
  return { date, machine, node: process.version, rounds: ROUNDS, windowMs: WINDOW_MS, rows }
}

function contentOf({ date, machine, node, rounds, windowMs, rows }: Results): string {
  const { cpu, cores, load } = machine
  const lines = rows.map(({ title, cycleUs, ofLimit, cpuUs }) => [
    title,
    cycleUs.median.toFixed(0),
    ofLimit.median.toFixed(2),
    cpuUs.median.toFixed(0),
  ])
  return [
    table([['two round trips:', 'µs a cycle', 'of the limit', 'client CPU µs'], ...lines]),
    '',
    `${date.slice(0, 10)}; ${cpu}, ${cores} cores, load before ${load}, Node ${node}; medians of ${rounds} rounds of ` +
      `${windowMs} ms each, in turns. A whole lock was at ${shown(rows.at(-1)!.ofLimit, 2)} of the limit.`,
  ].join('\n')
}

async function cycle({ report }: { readonly report: boolean }): Promise<void> {
  if (report && !existsSync(RESULTS)) throw new Error('nothing was measured yet')
  const results: Results = report ? JSON.parse(readFileSync(RESULTS, 'utf8')) : await measure()
  if (!report) writeFileSync(RESULTS, `${JSON.stringify(results, null, 2)}\n`)
  fillRegions(PAGE, () => contentOf(results))
  console.log(contentOf(results))
}

function parseOptions(args: string[]): { readonly report: boolean } | undefined {
  const { values } = parseArgs({
    args,
    options: {
      report: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  return values.help ? undefined : { report: values.report }
}

cycle(optionsOrExit(parseOptions, USAGE)).then(
  () => process.exit(0),
  (error: Error) => {
    console.error(`The run failed: ${error.message}`)
    process.exit(1)
  },
)
