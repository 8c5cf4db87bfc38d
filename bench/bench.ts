// npm run bench: this lock beside its peers, every one measured in turns in the same run.

import { join } from 'node:path'
import { optionsOrExit } from '../test/kit/cli'
import { liveLine } from '../test/kit/terminal/live-line'
import { withCoresAwake } from './driver/awake-cores'
import { type BenchRun, runBench } from './driver/bench-run'
import { buildPackage, installPeers, javaWorker, nodeWorker, type Workers } from './driver/programs'
import { type BenchOptions, parseOptions, USAGE } from './options'
import { tables } from './report/tables'
import { judge } from './report/targets'
import { assertWritable, readRun, UnusableFile, writeRun } from './result-file'

const DOCS = join(__dirname, '../docs/evidence')

/** Resolves with the exit code. */
async function bench(options: BenchOptions): Promise<number> {
  if (options.json !== undefined && options.report === undefined) assertWritable(options.json)
  const run = options.report === undefined ? await measured(options) : await reported(options.report)
  console.log(tables(run))
  const { cpu, cores, load } = run.machine
  console.log(`\n${cpu}, ${cores} cores, load before ${load}`)
  const doubts = doubtsAbout(run)
  if (doubts.length > 0) console.log(`Judge nothing by this: ${doubts.join(', ')}.`)
  const versions = Object.entries(run.versions).map(([name, version]) => `${name} ${version}`)
  console.log(versions.join(', '))
  // Last: what took so long to measure is on the screen, should this fail.
  if (options.json !== undefined && options.report === undefined) writeRun(options.json, run)
  return options.check && judge(run).some(({ met }) => met === false) ? 1 : 0
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
  const subjects = options.subjects.filter(({ runsOn }) => workers[runsOn])
  const command = ['npm run bench --', ...process.argv.slice(2)].join(' ').replace(/ --$/, '')
  const run = () => runBench({ ...options, subjects }, workers, command, line.show)
  return await withCoresAwake(options.keepAwake, run).finally(line.clear)
}

async function reported(file: string): Promise<BenchRun> {
  const run = readRun(file)
  installPeers()
  // Loaded only here: what draws the charts is installed with the peers.
  const [{ writeCharts }, { fillDocument }] = await Promise.all([
    import('./report/charts'),
    import('./report/document'),
  ])
  writeCharts(run, join(DOCS, 'charts'))
  fillDocument(run, join(DOCS, 'performance.md'))
  return run
}

bench(optionsOrExit(parseOptions, USAGE)).then(
  (code) => process.exit(code),
  (error: Error) => {
    const unusable = error instanceof UnusableFile
    console.error(unusable ? error.message : `The run failed: ${error.message}`)
    process.exit(unusable ? 2 : 1)
  },
)
