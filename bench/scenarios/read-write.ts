import { measureFlows } from '../driver/flows'
import { PEERS_AND_BASELINES } from '../subjects/catalogue'
import type { Scenario } from './scenario'

const NONE = 'has no read-write lock'

export const readWrite: Scenario = {
  name: 'read-write',
  title: 'Read-mostly: 2 processes of 8 flows on one read-write lock, 9 of 10 turns read, each turn 1 ms',
  columns: [
    'sectionsPerSecond',
    'ofJava',
    'waitP50Ms',
    'waitP99Ms',
    'waitMaxMs',
    'leastFlowShare',
    'clientCommandsPerSection',
  ],
  mostRounds: { quick: 1, full: 5 },
  takesPart: ({ name }) => name === 'rlock' || name === 'java',
  absent: Object.fromEntries(
    PEERS_AND_BASELINES.filter((name) => name !== 'java').map((name) => [name, NONE]),
  ),
  measure: (subject, measuring) =>
    measureFlows(
      subject,
      { processes: 2, flows: 8, locks: 1, holdMs: 1, reading: { readers: 9, writers: 1 } },
      measuring.single,
      measuring,
    ),
}
