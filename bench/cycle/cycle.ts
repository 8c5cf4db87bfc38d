// npm run bench:cycle: what one uncontended lock costs, layer by layer, and docs/evidence/performance.md filled in from it.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { optionsOrExit } from '../../test/kit/cli'
import { fillRegions } from '../../test/kit/docs/regions'
import { liveLine } from '../../test/kit/terminal/live-line'
import { withCoresAwake } from '../driver/awake-cores'
import { describeMachine, type Machine } from '../driver/machine'
import { buildPackage, nodeWorker } from '../driver/programs'
import { shown, table } from '../report/markdown'
import { resultText } from '../results'
import {
  type HandoffRow,
  type LayerRow,
  type LayerRows,
  measureHandoffs,
  measureLayers,
  ROUNDS,
  WINDOW_MS,
} from './measure'

const RESULTS = join(__dirname, '../results/cycle.json')
const PAGE = join(__dirname, '../../docs/evidence/performance.md')

const USAGE = `usage: npm run bench:cycle -- [--keep-awake]
       npm run bench:cycle -- --report

Measures where the time of one caller's cycle goes, from two calls that lock nothing to a whole lock, that of a
handoff within a process, and beside what a handoff between two processes is to be measured: builds the package,
starts Redis servers of its own, writes the figures to bench/results/cycle.json and into docs/evidence/performance.md. Takes some
two minutes.

  --keep-awake  a process of Linux's idle class on each core, so that no core falls asleep between two commands
  --report      measures nothing: fills the page in anew

Exit code: 0 when everything was measured, 1 when something failed, 2 for bad arguments.`

interface CycleOptions {
  readonly keepAwake: boolean
  readonly report: boolean
}

/** What it keeps. */
interface Results {
  readonly date: string
  readonly command: string
  readonly machine: Machine
  readonly node: string
  readonly rounds: number
  readonly windowMs: number
  readonly layers: LayerRows
  readonly handoffs: readonly HandoffRow[]
}

/** By the names of the regions in the page. */
export const CONTENTS: Readonly<Record<string, (results: Results) => string>> = {
  'cycle-layers'({
    date,
    command,
    machine: { cpu, cores, load },
    node,
    rounds,
    windowMs,
    layers: { cycle },
  }) {
    const rows = cycle.map(({ title, cycleUs, ofLimit }) => [
      ...[title, cycleUs.median.toFixed(0), ofLimit.median.toFixed(2)],
    ])
    return [
      table([['two round trips:', 'µs a cycle', 'of the limit'], ...rows]),
      '',
      `\`${command}\`, ${date.slice(0, 10)}; ${cpu}, ${cores} cores, load before ${load}, Node ${node}; medians of ${rounds} rounds of ` +
        `${windowMs} ms. A whole lock was at ${shown(cycle.at(-1)!.ofLimit, 2)} of the limit.`,
    ].join('\n')
  },
  // The limit has two round trips to a section.
  'cycle-one-lock': ({ layers }) => list(layers.handoff, 2),
  'cycle-ways': ({ layers }) => list(layers.ways),
  'cycle-handoff': ({ handoffs }) =>
    handoffs
      .map(
        ({ title, p50Ms, roundTrips }) => `- ${title}: ${shown(p50Ms, 2)} ms, ${shown(roundTrips, 1)} PINGs`,
      )
      .join('\n'),
}

function list(rows: readonly LayerRow[], times = 1): string {
  return rows
    .map(
      ({ title, cycleUs, ofLimit }) =>
        `- ${title}: ${cycleUs.median.toFixed(0)} µs, ${(times * ofLimit.median).toFixed(2)}`,
    )
    .join('\n')
}

async function measure(): Promise<Results> {
  const command = ['npm run bench:cycle --', ...process.argv.slice(2)].join(' ').replace(/ --$/, '')
  const line = liveLine()
  line.show('building')
  buildPackage()
  const machine = describeMachine()
  try {
    const layers = await measureLayers(line.show)
    const handoffs = await measureHandoffs(await nodeWorker(), line.show)
    const date = new Date().toISOString()
    const settings = { machine, node: process.version, rounds: ROUNDS, windowMs: WINDOW_MS }
    return { date, command, ...settings, layers, handoffs }
  } finally {
    line.clear()
  }
}

async function cycle({ keepAwake, report }: CycleOptions): Promise<void> {
  if (report && !existsSync(RESULTS)) throw new Error('nothing was measured yet')
  const results: Results = report
    ? JSON.parse(readFileSync(RESULTS, 'utf8'))
    : await withCoresAwake(keepAwake, measure)
  if (!report) writeFileSync(RESULTS, resultText(results))
  fillRegions(PAGE, 'bench', (name) => CONTENTS[name]?.(results))
  for (const content of Object.values(CONTENTS)) console.log(`${content(results)}\n`)
}

function parseOptions(args: string[]): CycleOptions | undefined {
  const { values } = parseArgs({
    args,
    options: {
      'keep-awake': { type: 'boolean', default: false },
      report: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  const { 'keep-awake': keepAwake, report, help } = values
  if (report && keepAwake) throw new TypeError('--report goes with nothing else')
  return help ? undefined : { keepAwake, report }
}

if (require.main === module)
  cycle(optionsOrExit(parseOptions, USAGE)).then(
    () => process.exit(0),
    (error: Error) => {
      console.error(`The run failed: ${error.message}`)
      process.exit(1)
    },
  )
