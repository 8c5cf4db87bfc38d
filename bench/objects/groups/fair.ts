import { measureIdleWaiters } from '../../driver/idle-waiters'
import { JAVA, LOCK, OBJECTS } from '../subjects'
import { turns } from './arms'
import type { Group } from './group'

const COLUMNS = [
  'sectionsPerSecond',
  'waitP99Ms',
  'waitP99Turns',
  'leastCallerShare',
  'clientCommandsPerSection',
  'messagesPerSection',
  'serverUsPerSection',
  'clientUsPerSection',
]

function fair(name: string, title: string, processes: number, callers: number): Group {
  const setup = { processes, callers }
  return {
    name,
    title,
    rounds: 3,
    columns: COLUMNS,
    arms: [
      turns('fair', 'fair lock', OBJECTS, { ...setup, object: 'fair' }),
      turns('java', 'Java Redisson, fair lock', JAVA, { ...setup, object: 'fair' }),
      turns('lock', 'plain lock', LOCK, setup),
    ],
  }
}

export const fairFour = fair('fair-4x4', 'Fair lock, 4 processes of 4 callers', 4, 4)
export const fairSixteen = fair('fair-16x1', 'Fair lock, 16 processes of one caller', 16, 1)

/** Each takes a place by a script and a channel of its own. */
const UNTIL_ALL_WAIT = 6_000
const WAITERS = 5_000

export const fairIdle: Group = {
  name: 'fair-idle',
  title: '5,000 waiters of one process before a fair lock that stays held',
  rounds: 2,
  columns: ['idleCommandsPerSecond', 'heapPerWaiter', 'serverCpu'],
  arms: [
    {
      name: 'fair',
      title: 'fair lock',
      subject: OBJECTS,
      measure: (measuring) =>
        measureIdleWaiters(
          OBJECTS,
          { processes: 1, waiters: WAITERS, object: 'fair', settlingMs: UNTIL_ALL_WAIT },
          measuring,
        ),
    },
  ],
}
