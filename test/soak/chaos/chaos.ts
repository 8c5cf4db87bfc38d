// The command `npm run chaos`.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { optionsOrExit } from '../../kit/cli'
import { javaAvailability } from '../../kit/java'
import { type ChaosOptions, parseOptions, USAGE } from './options'
import type { TopologyName } from './plan/catalogue'
import { plansOf } from './plan/objects'
import { schedule } from './plan/schedule'
import { type Figures, figuresOf } from './report/markdown'
import { ProgressLine } from './report/progress-line'
import { section } from './report/section'
import { writeDrawings } from './report/table'
import { type RunOptions, run } from './run'
import { FAULTS_UNDER, type MutantName, OBJECTS_OF, TOPOLOGY_OF } from './worker/mutants'

async function main(options: ChaosOptions): Promise<boolean> {
  if (options.printSchedule) return printSchedules(options)
  const figures = options.tableOf ? read(options.tableOf) : await runAll(options)
  const said = section(figures)
  console.log(`\n${said}\n`)
  if (options.json) writeFileSync(options.json, `${JSON.stringify(figures, undefined, 1)}\n`)
  if (options.markdown) writeFileSync(options.markdown, `${said}\n`)
  if (options.tableOf) return true
  return figures.every(({ mutant, violations }) => violations.length > 0 === (mutant !== undefined))
}

const read = (files: readonly string[]): Figures[] =>
  files.flatMap((file) => JSON.parse(readFileSync(file, 'utf8')) as Figures[])

async function runAll(options: ChaosOptions): Promise<Figures[]> {
  const java = options.java && (await javaIsThere())
  const figures: Figures[] = []
  for (const mutant of options.mutants.length > 0 ? options.mutants : [undefined])
    for (const topology of topologiesOf(options, mutant))
      figures.push(await show(runOptions(options, topology, java, mutant)))
  return figures
}

const topologiesOf = ({ topologies }: ChaosOptions, mutant?: MutantName): readonly TopologyName[] =>
  topologies.length > 0 || !mutant ? topologies : [TOPOLOGY_OF[mutant] ?? 'standalone']

async function show(options: RunOptions): Promise<Figures> {
  const line = new ProgressLine()
  try {
    const result = await run(options, (progress) => line.begin(options, progress))
    const { topology, seed, mutant } = options
    const name = [topology, seed, ...(mutant ? [mutant] : [])].join('-')
    for (const file of writeDrawings(join('.tmp', 'chaos'), name, result.judge.violations))
      console.log(`drawn in ${file}`)
    return figuresOf(result)
  } finally {
    line.end()
  }
}

function runOptions(
  { minutes, seed, workers, topologies, mutants, kinds, objects }: ChaosOptions,
  topology: TopologyName,
  java: boolean,
  mutant?: MutantName,
): RunOptions {
  return {
    kinds: (mutant && FAULTS_UNDER[mutant]) ?? kinds,
    objects: mutant ? (OBJECTS_OF[mutant] ?? ['locks']) : objects,
    ...{ topology, seed, java, mutant, nodeWorkers: workers, stopAtFirst: mutant !== undefined },
    lastsMs: (minutes * 60_000) / (mutants.length > 0 ? 1 : topologies.length),
  }
}

function printSchedules(options: ChaosOptions): true {
  for (const topology of options.topologies) {
    const { nodeWorkers, lastsMs, seed, java, kinds, objects } = runOptions(options, topology, options.java)
    const plans = plansOf(objects)
    const lockWatchdogTimeout = topology === 'standalone' ? 3_000 : 6_000
    const faults = schedule({
      seed,
      topology,
      lastsMs,
      nodeWorkers,
      locks: plans.locks.length + plans.objects.length,
      lockWatchdogTimeout,
      java,
      kinds,
    })
    for (const { at, kind, worker, lock, lasts, together } of faults)
      console.log(
        [
          topology,
          at,
          kind,
          `worker ${worker}`,
          `lock ${lock}`,
          `${lasts} ms`,
          together ? 'together' : '',
        ].join('\t'),
      )
  }
  return true
}

async function javaIsThere(): Promise<boolean> {
  const java = await javaAvailability()
  if (!java.available) console.log(`Without Java: ${java.reason.split('\n')[0]}`)
  return java.available
}

for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const) {
  // What was started ends with this process: see the `exit` listeners.
  process.on(signal, () => {
    console.log('\nInterrupted: no verdict.')
    process.exit(code)
  })
}

main(optionsOrExit(parseOptions, USAGE)).then(
  (ok) => process.exit(ok ? 0 : 1),
  (error: Error) => {
    console.error(`The run failed: ${error.stack}`)
    if (error.cause) console.error(error.cause)
    process.exit(1)
  },
)
