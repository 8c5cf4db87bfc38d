import type { BenchRun } from '../driver/bench-run'
import { SUBJECTS } from '../subjects/catalogue'
import { COLUMNS } from './columns'
import { table } from './markdown'
import { summaryOf } from './summary'

/** What the page compares: a figure of a scenario, and what it is called there. */
interface Compared {
  readonly title: string
  readonly scenario: string
  readonly figure: string
}

const COMPARED: readonly Compared[] = [
  { title: 'one caller, of the limit', scenario: 'one-caller', figure: 'ofLimit' },
  { title: '64 locks, of the limit', scenario: 'many-locks', figure: 'ofLimit' },
  { title: '50 callers, of the limit', scenario: 'one-process', figure: 'ofLimit' },
  { title: 'p99 in turns', scenario: 'one-process', figure: 'waitP99Turns' },
  { title: 'least', scenario: 'one-process', figure: 'leastCallerShare' },
  { title: '4 × 4, of the limit', scenario: 'four-processes', figure: 'ofLimit' },
  { title: 'p99 in turns', scenario: 'four-processes', figure: 'waitP99Turns' },
  { title: 'least', scenario: 'four-processes', figure: 'leastCallerShare' },
  { title: 'handoff, ms', scenario: 'handoff', figure: 'handoffP50Ms' },
  { title: '1,000 waiters, commands/s', scenario: 'idle-waiters', figure: 'idleCommandsPerSecond' },
]

const OTHERS: readonly Compared[] = [
  { title: 'read-mostly, 2 × 8 callers, sections/s', scenario: 'read-write', figure: 'sectionsPerSecond' },
  { title: '100,000 held locks, commands/s', scenario: 'held-locks', figure: 'renewalCommandsPerSecond' },
  { title: '… CPU of the client', scenario: 'held-locks', figure: 'clientCpu' },
  { title: 'one caller in a cluster, of the limit', scenario: 'cluster-one-caller', figure: 'ofLimit' },
  { title: '64 locks in a cluster, of the limit', scenario: 'cluster-many-locks', figure: 'ofLimit' },
  { title: '16 processes of one caller, sections/s', scenario: 'sixteen-processes', figure: 'rateAt16' },
]
/** Those that take part in most of the other scenarios. */
const IN_OTHERS = ['rlock', 'java', 'node-redisson', 'redis-semaphore']

/** A row for each subject but that which polls with the hash, which the charts have: the medians. */
export function compareTable(run: BenchRun): string | undefined {
  if (!COMPARED.some(({ scenario }) => isMeasured(run, scenario))) return undefined
  const rows = SUBJECTS.filter(({ kind, name }) => kind !== 'limit' && name !== 'hash-polling').map(
    ({ name, title }) => [title, ...COMPARED.map((each) => cell(run, name, each))],
  )
  return table([['', ...COMPARED.map(({ title }) => title)], ...rows])
}

/** A row for each scenario. */
export function othersTable(run: BenchRun): string | undefined {
  const rows = OTHERS.filter(({ scenario }) => isMeasured(run, scenario))
  if (rows.length === 0) return undefined
  const subjects = SUBJECTS.filter(({ name }) => IN_OTHERS.includes(name))
  return table([
    ['', ...subjects.map(({ title }) => title)],
    ...rows.map((each) => [each.title, ...subjects.map(({ name }) => cell(run, name, each))]),
  ])
}

function isMeasured(run: BenchRun, scenario: string): boolean {
  return run.measurements.some((one) => one.scenario === scenario)
}

function cell(run: BenchRun, subject: string, { scenario, figure }: Compared): string {
  const spread = summaryOf(run, scenario, subject)?.figures[figure]
  return spread ? spread.median.toFixed(COLUMNS[figure]!.digits) : '–'
}
