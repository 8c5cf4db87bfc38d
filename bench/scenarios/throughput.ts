import { type CallersSetup, measureCallers } from '../driver/callers'
import type { Scenario } from './scenario'

const CONTENDED = [
  'sectionsPerSecond',
  'ofLimit',
  'waitP50Ms',
  'waitP99Ms',
  'waitMaxMs',
  'waitP99Turns',
  'leastCallerShare',
  'overtakenShare',
]
const TRAFFIC = ['clientCommandsPerSection', 'serverCommandsPerSection', 'messagesPerSection']

/** Where the subjects contend, the limit is that of one caller: it has no lock for more of them to contend for. */
const ALONE: CallersSetup = { processes: 1, callers: 1, locks: 1 }

export const oneCaller = scenario('one-caller', 'One caller alone', ALONE, [
  'sectionsPerSecond',
  'ofLimit',
  'ofJava',
  ...TRAFFIC,
])

export const manyLocks = scenario(
  'many-locks',
  '64 callers on 64 locks, one process',
  { processes: 1, callers: 64, locks: 64 },
  ['sectionsPerSecond', 'ofLimit', 'waitP50Ms', 'waitP99Ms', 'clientCommandsPerSection'],
)

export const oneProcess = scenario(
  'one-process',
  '50 callers on one lock, one process',
  { processes: 1, callers: 50, locks: 1 },
  [...CONTENDED, ...TRAFFIC],
)

export const fourProcesses = scenario(
  'four-processes',
  '4 processes of 4 callers on one lock',
  { processes: 4, callers: 4, locks: 1 },
  [...CONTENDED, 'leastProcessShare', ...TRAFFIC],
)

function scenario(name: string, title: string, setup: CallersSetup, columns: readonly string[]): Scenario {
  const contended = setup.locks < setup.processes * setup.callers
  return {
    name,
    title,
    columns,
    takesPart: () => true,
    measure: (subject, measuring) =>
      measureCallers(
        subject,
        contended && subject.kind === 'limit' ? ALONE : setup,
        measuring.single,
        measuring,
      ),
  }
}
