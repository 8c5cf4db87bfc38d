import { measureCallers } from '../driver/callers'
import { PEERS_AND_BASELINES } from '../subjects/catalogue'
import type { Scenario } from './scenario'

const NONE = 'has no read-write lock'

export const readWrite: Scenario = {
  name: 'read-write',
  title: 'Read-mostly: 2 processes of 8 callers on one read-write lock, 9 of 10 turns read, each turn 1 ms',
  columns: [
    'sectionsPerSecond',
    'ofJava',
    'waitP50Ms',
    'waitP99Ms',
    'waitMaxMs',
    'leastCallerShare',
    'clientCommandsPerSection',
  ],
  mostRounds: { quick: 1, full: 5 },
  takesPart: ({ name }) => name === 'rlock' || name === 'java',
  absent: Object.fromEntries(
    PEERS_AND_BASELINES.filter((name) => name !== 'java').map((name) => [name, NONE]),
  ),
  measure: (subject, measuring) =>
    measureCallers(
      subject,
      { processes: 2, callers: 8, locks: 1, holdMs: 1, reading: { readers: 9, writers: 1 } },
      measuring.single,
      measuring,
    ),
}
