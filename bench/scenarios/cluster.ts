import { type FlowsSetup, measureFlows } from '../driver/flows'
import { PEERS_AND_BASELINES } from '../subjects/catalogue'
import type { Scenario } from './scenario'

const COLUMNS = ['sectionsPerSecond', 'ofLimit', 'waitP50Ms', 'waitP99Ms', 'clientCommandsPerSection']

const NONE = 'not measured: the bench connects it to a single server only'

export const clusterOneFlow = scenario(
  'cluster-one-flow',
  'One flow alone, in a cluster of three primaries',
  {
    processes: 1,
    flows: 1,
    locks: 1,
  },
)

export const clusterManyLocks = scenario(
  'cluster-many-locks',
  '64 flows on 64 locks, one process, in a cluster of three primaries',
  { processes: 1, flows: 64, locks: 64 },
)

function scenario(name: string, title: string, setup: FlowsSetup): Scenario {
  return {
    name,
    title,
    columns: COLUMNS,
    mostRounds: { quick: 1, full: 3 },
    takesPart: (subject) => ['rlock', 'java', 'limit'].includes(subject.name),
    absent: Object.fromEntries(
      PEERS_AND_BASELINES.filter((name) => name !== 'java').map((name) => [name, NONE]),
    ),
    measure: async (subject, measuring) => measureFlows(subject, setup, await measuring.cluster(), measuring),
  }
}
