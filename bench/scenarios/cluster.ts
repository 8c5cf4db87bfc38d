import { type CallersSetup, measureCallers } from '../driver/callers'
import { PEERS_AND_BASELINES } from '../subjects/catalogue'
import type { Scenario } from './scenario'

const COLUMNS = ['sectionsPerSecond', 'ofLimit', 'waitP50Ms', 'waitP99Ms', 'clientCommandsPerSection']

const NONE = 'not measured: the bench connects it to a single server only'

export const clusterOneCaller = scenario(
  'cluster-one-caller',
  'One caller alone, in a cluster of three primaries',
  {
    processes: 1,
    callers: 1,
    locks: 1,
  },
)

export const clusterManyLocks = scenario(
  'cluster-many-locks',
  '64 callers on 64 locks, one process, in a cluster of three primaries',
  { processes: 1, callers: 64, locks: 64 },
)

function scenario(name: string, title: string, setup: CallersSetup): Scenario {
  return {
    name,
    title,
    columns: COLUMNS,
    mostRounds: { quick: 1, full: 3 },
    takesPart: (subject) => ['rlock', 'java', 'limit'].includes(subject.name),
    absent: Object.fromEntries(
      PEERS_AND_BASELINES.filter((name) => name !== 'java').map((name) => [name, NONE]),
    ),
    measure: async (subject, measuring) =>
      measureCallers(subject, setup, await measuring.cluster(), measuring),
  }
}
