import { measureHeldLocks } from '../driver/held-locks'
import type { Scenario } from './scenario'

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
  takesPart: ({ kind, renewsEveryMs }, quick) => renewsEveryMs !== undefined && (kind === 'this' || !quick),
  absent: {
    java: 'its worker does not do this scenario',
    redlock: 'renews within `using()` only, not what `acquire()` took',
    'sesamecare-redlock': 'renews within `using()` only, not what `acquire()` took',
    'set-nx-polling': 'renews nothing',
    'hash-polling': 'renews nothing',
  },
  measure: (subject, measuring) => measureHeldLocks(subject, measuring.quick ? 10_000 : 100_000, measuring),
}
