import { type FlowsSetup, measureFlows } from '../driver/flows'
import type { Scenario } from './scenario'

const CONTENDED = [
  'sectionsPerSecond',
  'ofLimit',
  'waitP50Ms',
  'waitP99Ms',
  'waitMaxMs',
  'waitP99Turns',
  'leastFlowShare',
  'overtakenShare',
]
const TRAFFIC = ['clientCommandsPerSection', 'serverCommandsPerSection', 'messagesPerSection']

/** Where the subjects contend, the limit is that of one flow: it has no lock for more of them to contend for. */
const ALONE: FlowsSetup = { processes: 1, flows: 1, locks: 1 }

export const oneFlow = scenario('one-flow', 'One flow alone', ALONE, [
  'sectionsPerSecond',
  'ofLimit',
  'ofJava',
  ...TRAFFIC,
])

export const manyLocks = scenario(
  'many-locks',
  '64 flows on 64 locks, one process',
  { processes: 1, flows: 64, locks: 64 },
  ['sectionsPerSecond', 'ofLimit', 'waitP50Ms', 'waitP99Ms', 'clientCommandsPerSection'],
)

export const oneProcess = scenario(
  'one-process',
  '50 flows on one lock, one process',
  { processes: 1, flows: 50, locks: 1 },
  [...CONTENDED, ...TRAFFIC],
)

export const fourProcesses = scenario(
  'four-processes',
  '4 processes of 4 flows on one lock',
  { processes: 4, flows: 4, locks: 1 },
  [...CONTENDED, 'leastProcessShare', ...TRAFFIC],
)

function scenario(name: string, title: string, setup: FlowsSetup, columns: readonly string[]): Scenario {
  const contended = setup.locks < setup.processes * setup.flows
  return {
    name,
    title,
    columns,
    takesPart: () => true,
    measure: (subject, measuring) =>
      measureFlows(
        subject,
        contended && subject.kind === 'limit' ? ALONE : setup,
        measuring.single,
        measuring,
      ),
  }
}
