import { measureHeldLocks } from '../driver/held-locks'
import { PEERS_AND_BASELINES } from '../subjects/catalogue'
import type { Scenario } from './scenario'

const RENEWING = ['rlock', 'node-redisson', 'redis-semaphore']

export const heldLocks: Scenario = {
  name: 'held-locks',
  title: '100,000 locks held by one process and renewed (10,000 with --quick)',
  columns: [
    'heldLocks',
    'renewalCommandsPerSecond',
    'serverCpu',
    'clientCpu',
    'delayP99Ms',
    'delayMaxMs',
    'heapPerLock',
    'takenPerSecond',
  ],
  mostRounds: { quick: 1, full: 2 },
  takesPart: ({ name }, quick) => (quick ? ['rlock'] : RENEWING).includes(name),
  absent: {
    ...Object.fromEntries(
      PEERS_AND_BASELINES.filter((name) => !RENEWING.includes(name)).map((name) => [
        name,
        'renews none by itself',
      ]),
    ),
    java: 'not measured',
    redlock: 'renews within `using()` only, not what `acquire()` took',
    'sesamecare-redlock': 'renews within `using()` only, not what `acquire()` took',
  },
  measure: (subject, measuring) => measureHeldLocks(subject, measuring.quick ? 10_000 : 100_000, measuring),
}
