import type { BenchRun } from '../driver/run'
import { SUBJECTS } from '../subjects/catalogue'
import { COLUMNS } from './columns'
import { table } from './markdown'
import { isMeasured, spreadIn, targetTable } from './tables'
import { judge, LOCK_TARGETS, OBJECT_TARGETS, type Target } from './targets'

/** What the page compares: what it is called there, and a figure of a scenario. */
type Compared = readonly [title: string, scenario: string, figure: string]

const COMPARED: readonly Compared[] = [
  ['one caller, of the limit', 'one-caller', 'ofLimit'],
  ['64 locks, of the limit', 'many-locks', 'ofLimit'],
  ['50 callers, of the limit', 'one-process', 'ofLimit'],
  ['p99 in turns', 'one-process', 'waitP99Turns'],
  ['least', 'one-process', 'leastCallerShare'],
  ['4 × 4, of the limit', 'four-processes', 'ofLimit'],
  ['p99 in turns', 'four-processes', 'waitP99Turns'],
  ['least', 'four-processes', 'leastCallerShare'],
  ['handoff, ms', 'handoff', 'handoffP50Ms'],
  ['1,000 waiters, commands/s', 'idle-waiters', 'idleCommandsPerSecond'],
]

const OTHERS: readonly Compared[] = [
  ['read-mostly, 2 × 8 callers, sections/s', 'read-write', 'sectionsPerSecond'],
  ['100,000 held locks, commands/s', 'held-locks', 'renewalCommandsPerSecond'],
  ['… CPU of the client', 'held-locks', 'clientCpu'],
  ['one caller in a cluster, of the limit', 'cluster-one-caller', 'ofLimit'],
  ['64 locks in a cluster, of the limit', 'cluster-many-locks', 'ofLimit'],
]
/** Those that take part in most of the other scenarios. */
const IN_OTHERS = ['rlock', 'java', 'node-redisson', 'redis-semaphore']

/** By the names of the regions of docs/evidence/performance.md; undefined where the run measured nothing of it. */
export const CONTENTS: Readonly<Record<string, (run: BenchRun) => string | undefined>> = {
  run: (run) => (COMPARED.some(([, scenario]) => isMeasured(run, scenario)) ? aboutRun(run) : undefined),
  compare: compareTable,
  others: othersTable,
  processes: processesTable,
  targets: (run) => targetsOf(run, LOCK_TARGETS),
  objects: (run) => targetsOf(run, OBJECT_TARGETS),
  'objects-run': (run) =>
    OBJECT_TARGETS.some(({ scenario }) => isMeasured(run, scenario)) ? aboutRun(run) : undefined,
}

/** A row for each subject: the medians. */
function compareTable(run: BenchRun): string | undefined {
  if (!COMPARED.some(([, scenario]) => isMeasured(run, scenario))) return undefined
  const rows = SUBJECTS.filter(({ kind }) => kind !== 'limit').map(({ name, title }) => [
    title,
    ...COMPARED.map((each) => cell(run, name, each)),
  ])
  return table([['', ...COMPARED.map(([title]) => title)], ...rows])
}

/** A row for each scenario. */
function othersTable(run: BenchRun): string | undefined {
  const rows = OTHERS.filter(([, scenario]) => isMeasured(run, scenario))
  if (rows.length === 0) return undefined
  const subjects = SUBJECTS.filter(({ name }) => IN_OTHERS.includes(name))
  return table([
    ['', ...subjects.map(({ title }) => title)],
    ...rows.map((each) => [each[0], ...subjects.map(({ name }) => cell(run, name, each))]),
  ])
}

/** Sections a second of 1 to 16 processes. */
function processesTable(run: BenchRun): string | undefined {
  if (!isMeasured(run, 'sixteen-processes')) return undefined
  const counts = [1, 2, 4, 8, 16]
  const rows = SUBJECTS.filter(({ kind }) => kind !== 'limit').map(({ name, title }) => [
    title,
    ...counts.map((count) => cell(run, name, ['', 'sixteen-processes', `rateAt${count}`])),
  ])
  return table([['processes', ...counts.map(String)], ...rows])
}

function cell(run: BenchRun, subject: string, [, scenario, figure]: Compared): string {
  return spreadIn(run, scenario, subject, figure)?.median.toFixed(COLUMNS[figure]!.digits) ?? '–'
}

function targetsOf(run: BenchRun, targets: readonly Target[]): string | undefined {
  // The page about fairness has the shares of far processes.
  const judged = judge(run, targets).filter(
    ({ spread, target }) => spread && target.scenario !== 'far-process',
  )
  return judged.length > 0 ? targetTable(judged) : undefined
}

/** The page is of this version, and all subjects use the same ioredis. */
const NOT_SHOWN = ['rlock', "the peers' ioredis", 'JVM']

function aboutRun({ command, date, machine, versions, rounds, seconds }: BenchRun): string {
  const { cpu, cores, memoryGb, kernel, load } = machine
  const shown = Object.entries(versions).filter(([name]) => !NOT_SHOWN.includes(name))
  return (
    `\`${command}\`, ${date.slice(0, 10)}; ${cpu}, ${cores} cores, ${memoryGb} GB, Linux ${kernel}, load before ${load}; ` +
    `up to ${rounds} rounds, windows of ${seconds} s; ${shown.map(([name, version]) => `${name} ${version}`).join(', ')}.`
  )
}
