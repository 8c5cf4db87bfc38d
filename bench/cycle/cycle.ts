// npm run bench:cycle: where the time of one caller's cycle and of a handoff goes, and docs/evidence/performance.md filled in from it.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { optionsOrExit } from '../../test/kit/cli'
import { fillRegions } from '../../test/kit/docs/regions'
import { liveLine } from '../../test/kit/terminal/live-line'
import { withCoresAwake } from '../driver/awake-cores'
import { describeMachine } from '../driver/machine'
import { buildPackage, nodeWorker } from '../driver/programs'
import { resultText } from '../report/result-text'
import { measureHandoffs } from './handoffs'
import { measureLayers, ROUNDS, WINDOW_MS } from './layer-rows'
import { CONTENTS, type Results } from './page'

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

cycle(optionsOrExit(parseOptions, USAGE)).then(
  () => process.exit(0),
  (error: Error) => {
    console.error(`The run failed: ${error.message}`)
    process.exit(1)
  },
)
