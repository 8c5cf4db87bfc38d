import { suffixed } from '../../../src/redis/names'
import { type HeldObjects, measureHeldLocks } from '../../driver/held-locks'
import { RENEWED_PERMITS } from '../../worker/protocol'
import { LOCK, OBJECTS } from '../subjects'
import type { Group } from './group'

const HELD = 10_000

const PERMITS: HeldObjects = {
  object: 'renewed-permits',
  prepare: (server, count) => server.set(RENEWED_PERMITS, count),
  held: (server) => server.zcard(suffixed(RENEWED_PERMITS, 'timeout')),
}

export const held: Group = {
  name: 'held',
  title: '10,000 permits of one semaphore, and 10,000 locks, held and renewed by one process',
  rounds: 2,
  columns: [
    'renewalCommandsPerSecond',
    'serverCpu',
    'clientCpu',
    'delayP99Ms',
    'delayMaxMs',
    'heapPerLock',
    'takenPerSecond',
  ],
  arms: [
    {
      name: 'permits',
      title: 'expirable semaphore, `acquirePermit()`',
      subject: OBJECTS,
      measure: (measuring) => measureHeldLocks(OBJECTS, HELD, measuring, { objects: PERMITS }),
    },
    {
      name: 'locks',
      title: 'plain locks',
      subject: LOCK,
      measure: (measuring) => measureHeldLocks(LOCK, HELD, measuring),
    },
  ],
}
