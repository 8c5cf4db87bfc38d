// npm run bench: this lock beside its peers, every one measured in turns in the same run.

import { join } from 'node:path'
import { optionsOrExit } from '../test/kit/cli'
import { fillRegions } from '../test/kit/docs/regions'
import { liveLine } from '../test/kit/terminal/live-line'
import { withCoresAwake } from './driver/awake-cores'
import { buildPackage, installPeers, javaWorker, nodeWorker, type Workers } from './driver/programs'
import { type BenchRun, runBench } from './driver/run'
import { type BenchOptions, parseOptions, USAGE } from './options'
import { writeChart } from './report/chart'
import { CONTENTS } from './report/page'
import { isMissed, tables } from './report/tables'
import { assertWritable, readRun, UnusableFile, writeRun } from './results'

const DOCS = join(__dirname, '../docs/evidence')

/** Resolves with the exit code. */
async function bench(options: BenchOptions): Promise<number> {
  const { json, report } = options
  if (json !== undefined && report === undefined) assertWritable(json)
  const run = report === undefined ? await measured(options) : readRun(report)
  console.log(tables(run))
  const { cpu, cores, load } = run.machine
  console.log(`\n${cpu}, ${cores} cores, load before ${load}`)
  const doubts = doubtsAbout(run)
  if (doubts.length > 0) console.log(`Judge nothing by this: ${doubts.join(', ')}.`)
  console.log(
    Object.entries(run.versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(', '),
  )
  if (report !== undefined) {
    writeChart(run, join(DOCS, 'charts/throughput.svg'))
    fillRegions(join(DOCS, 'performance.md'), 'bench', (name) => CONTENTS[name]?.(run))
  }
  // Last: what took so long to measure is on the screen, should this fail.
  else if (json !== undefined) writeRun(json, run)
  return options.check && isMissed(run) ? 1 : 0
}

/** Rounds from which on a median is one. */
const ENOUGH_ROUNDS = 3

function doubtsAbout({ rounds, machine: { cores, load } }: BenchRun): string[] {
  return [
    ...(rounds < ENOUGH_ROUNDS ? [`${rounds} rounds decide nothing between those that are near`] : []),
    // What was building before is in it for a minute.
    ...(load > cores ? ['the machine had other work'] : []),
  ]
}

async function measured(options: BenchOptions): Promise<BenchRun> {
  const line = liveLine()
  line.show('installing the peers, where they are not')
  installPeers()
  line.show('building')
  buildPackage()
  const java = options.subjects.some(({ runsOn }) => runsOn === 'java') ? await javaWorker() : undefined
  const withJava = java !== undefined && !('missing' in java)
  if (java && !withJava) console.log(`Without Java: ${java.missing}`)
  // The workers inherit it.
  if (!options.fastPath) process.env.RLOCK_BENCH_FAST_PATH = 'off'
  const workers: Workers = { node: await nodeWorker(), ...(withJava && { java }) }
  const command = ['npm run bench --', ...process.argv.slice(2)].join(' ').replace(/ --$/, '')
  const subjects = options.subjects.filter(({ runsOn }) => workers[runsOn])
  const run = () => runBench({ ...options, subjects }, workers, command, line.show)
  return await withCoresAwake(options.keepAwake, run).finally(line.clear)
}

bench(optionsOrExit(parseOptions, USAGE)).then(
  (code) => process.exit(code),
  (error: Error) => {
    const unusable = error instanceof UnusableFile
    console.error(unusable ? error.message : `The run failed: ${error.message}`)
    process.exit(unusable ? 2 : 1)
  },
)
