// The command `npm run chaos`.

import { readFileSync, writeFileSync } from 'node:fs'
import { javaAvailability } from '../../compat/java-peer'
import { optionsOrExit } from '../support/command-line'
import { type ChaosOptions, parseOptions, USAGE } from './options'
import type { TopologyName } from './plan/catalogue'
import { schedule } from './plan/schedule'
import { type Figures, figuresOf } from './report/figures'
import { LiveLine } from './report/live-line'
import { table } from './report/table'
import { LOCKS, type RunOptions, run } from './run'
import { MUTANTS, type MutantName } from './worker/mutants'

async function main(options: ChaosOptions): Promise<boolean> {
  if (options.tableOf) {
    const runs = options.tableOf.flatMap((file) => JSON.parse(readFileSync(file, 'utf8')) as Figures[])
    console.log(table(runs))
    return true
  }
  if (options.printSchedule) return printSchedules(options)
  const java = options.java && (await javaIsThere())
  const figures = options.mutants.length > 0 ? await runMutants(options, java) : await runSound(options, java)
  if (options.json) writeFileSync(options.json, `${JSON.stringify(figures, undefined, 1)}\n`)
  return options.mutants.length > 0
    ? figures.every(({ violations }) => violations.length > 0)
    : figures.every(({ violations }) => violations.length === 0)
}

async function runSound(options: ChaosOptions, java: boolean): Promise<Figures[]> {
  const figures: Figures[] = []
  for (const topology of options.topologies) figures.push(await show(runOptions(options, topology, java)))
  console.log(`\n${table(figures)}\n`)
  const sections = figures.reduce((sum, run) => sum + run.sections, 0)
  const byJava = figures.reduce((sum, run) => sum + run.sectionsByJava, 0)
  const faults = figures.reduce((sum, run) => sum + run.faults, 0)
  const violations = figures.flatMap((run) => run.violations)
  for (const { kind, fault, what } of violations.slice(0, 50)) console.log(`${kind} [${fault}]: ${what}`)
  for (const failed of figures.flatMap((run) => run.failedFaults)) console.log(`not injected: ${failed}`)
  console.log(
    `${faults} faults, ${sections.toLocaleString('en')} sections (${byJava.toLocaleString('en')} by Java), ` +
      `${violations.length === 0 ? 'no violation' : `${violations.length} VIOLATIONS`}`,
  )
  return figures
}

async function runMutants(options: ChaosOptions, java: boolean): Promise<Figures[]> {
  const figures: Figures[] = []
  const rows: string[] = []
  for (const mutant of options.mutants)
    for (const topology of options.topologies) {
      const result = await show(runOptions(options, topology, java, mutant))
      figures.push(result)
      rows.push(mutantRow(mutant, topology, result))
    }
  console.log(
    [
      '',
      '| mutant | what is broken | topology | caught by | fault | after |',
      '| --- | --- | --- | --- | --- | ---: |',
      ...rows,
    ].join('\n'),
  )
  return figures
}

function mutantRow(
  mutant: MutantName,
  topology: TopologyName,
  { violations }: Figures & { begun?: number },
): string {
  const [first] = violations
  const caught = first
    ? [first.kind, first.fault ?? 'none', `${(first.afterMs / 1000).toFixed(1)} s`]
    : ['**not caught**', '', '']
  return `| ${[mutant, MUTANTS[mutant], topology, ...caught].join(' | ')} |`
}

async function show(options: RunOptions): Promise<Figures> {
  const line = new LiveLine()
  try {
    return figuresOf(await run(options, (progress) => line.begin(options, progress)))
  } finally {
    line.end()
  }
}

function runOptions(
  { minutes, seed, workers, topologies, mutants }: ChaosOptions,
  topology: TopologyName,
  java: boolean,
  mutant?: MutantName,
): RunOptions {
  return {
    ...{ topology, seed, java, mutant, nodeWorkers: workers, stopAtFirst: mutant !== undefined },
    lastsMs: (minutes * 60_000) / (mutants.length > 0 ? 1 : topologies.length),
  }
}

function printSchedules(options: ChaosOptions): true {
  for (const topology of options.topologies) {
    const { nodeWorkers, lastsMs, seed, java } = runOptions(options, topology, options.java)
    const lockWatchdogTimeout = topology === 'standalone' ? 3_000 : 6_000
    const faults = schedule({
      seed,
      topology,
      lastsMs,
      nodeWorkers,
      locks: LOCKS.length,
      lockWatchdogTimeout,
      java,
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
