// The other objects beside the plain lock, Java's and those of other libraries.

import { suffixed } from '../../src/scripts/key-names'
import { type CallersSetup, measureCallers } from '../driver/callers'
import { type HeldObjects, measureHeldLocks } from '../driver/held-locks'
import { measureLatch } from '../driver/latch'
import type { Measuring } from '../driver/measuring'
import { JAVA, LIMIT, LOCK, REDIS_SEMAPHORE, SET_NX, type Subject } from '../subjects/catalogue'
import { type ObjectKind, RENEWED_PERMITS } from '../worker/protocol'
import type { Arm, Measured, Scenario } from './scenario'

/** Its semaphore is released by a plain ZREM, which no script of it calls. */
const PEERS_SEMAPHORE: Subject = { ...REDIS_SEMAPHORE, alsoSent: { zrem: 1 } }

function scenario(
  name: string,
  title: string,
  rounds: number,
  columns: readonly string[],
  arms: readonly Arm[],
): Scenario {
  const mostRounds = { quick: 1, full: rounds }
  return { name, title, isOfObjects: true, mostRounds, columns, arms: () => arms }
}

function arm(
  name: string,
  title: string,
  subject: Subject,
  measure: (subject: Subject, measuring: Measuring) => Promise<Measured>,
): Arm {
  return { name, title, runsOn: subject.runsOn, measure: (measuring) => measure(subject, measuring) }
}

type Turns = Omit<CallersSetup, 'locks'>

/** Callers that take turns on the one server. */
function turns(name: string, title: string, subject: Subject, setup: Turns, object?: ObjectKind): Arm {
  const all = { ...setup, locks: 1, ...(object && { object }) }
  return arm(name, title, subject, (_, measuring) =>
    measureCallers(subject, all, measuring.single, measuring),
  )
}

/** After a client has closed the connection to a server that fell silent. Until then it costs a second a try. */
const UNTIL_NOTICED_MS = 10_000

/** One caller takes a lock of so many members, each on a server of its own. */
function members(name: string, title: string, object: ObjectKind, servers: number, stalled = false): Arm {
  return arm(name, title, LOCK, async (subject, measuring) => {
    const place = await measuring.several(servers)
    const setup = { ...ALONE, locks: 1, object, ...(stalled && { stall: place.stall }) }
    if (!stalled) return measureCallers(subject, setup, place, measuring)
    const warmupMs = () => measuring.warmupMs(subject) + UNTIL_NOTICED_MS
    return measureCallers(subject, setup, place.butLast, { ...measuring, warmupMs })
  })
}

const ALONE: Turns = { processes: 1, callers: 1 }
const WITH_PERMITS: Turns = { ...ALONE, permits: 8 }
const COSTS = ['clientCommandsPerSection', 'serverUsPerSection', 'clientUsPerSection']
const WAITS = ['sectionsPerSecond', 'waitP50Ms', 'waitP99Ms', 'waitP99Turns', 'leastCallerShare']

function fair(name: string, title: string, setup: Turns): Scenario {
  return scenario(
    name,
    title,
    3,
    [...WAITS, 'messagesPerSection', ...COSTS],
    [
      turns('fair', 'fair lock', LOCK, setup, 'fair'),
      turns('java', 'Java Redisson, fair lock', JAVA, setup, 'fair'),
      turns('lock', 'plain lock', LOCK, setup),
    ],
  )
}

const SIXTY_FOUR: Turns = { processes: 1, callers: 64, permits: 8 }
const FOUR_BY_FOUR: Turns = { processes: 4, callers: 4 }

const HELD = 10_000
const PERMITS: HeldObjects = {
  object: 'renewed-permits',
  prepare: (server, count) => server.set(RENEWED_PERMITS, count),
  held: (server) => server.zcard(suffixed(RENEWED_PERMITS, 'timeout')),
}
const LATCH_WAITERS = { processes: 4, waiters: 250 }
const latch = (subject: Subject, measuring: Measuring) => measureLatch(subject, LATCH_WAITERS, measuring)

export const OBJECT_SCENARIOS: readonly Scenario[] = [
  scenario(
    'objects-one-caller',
    'One caller alone',
    5,
    ['sectionsPerSecond', 'waitP50Ms', 'serverCommandsPerSection', ...COSTS],
    [
      turns('no-op', 'no-op baseline: two EVALSHA that do nothing', LIMIT, ALONE),
      turns('lock', 'plain lock', LOCK, ALONE),
      turns('fenced', 'fenced lock', LOCK, ALONE, 'fenced'),
      turns('non-reentrant', 'non-reentrant lock', LOCK, ALONE, 'non-reentrant'),
      turns('fair', 'fair lock', LOCK, ALONE, 'fair'),
      turns('token', 'token lock', LOCK, ALONE, 'token'),
      turns('mutex', 'redis-semaphore, Mutex', REDIS_SEMAPHORE, ALONE),
      turns('set-nx', 'SET NX PX, and a script that compares and deletes', SET_NX, ALONE),
      turns('semaphore', 'semaphore', LOCK, WITH_PERMITS, 'semaphore'),
      turns('expirable', 'expirable semaphore', LOCK, WITH_PERMITS, 'expirable-semaphore'),
    ],
  ),
  scenario(
    'members',
    'One caller alone, locks of several members',
    5,
    ['sectionsPerSecond', 'waitP50Ms', 'waitP99Ms', ...COSTS],
    [
      turns('lock', 'plain lock', LOCK, ALONE),
      members('multi', 'multi lock of 3 servers', 'multi', 3),
      members('red', 'red lock of 5 servers', 'red', 5),
      members('red-stalled', 'red lock of 5 servers, one of them stopped 10 s ago', 'red', 5, true),
    ],
  ),
  fair('fair-4x4', 'Fair lock, 4 processes of 4 callers', FOUR_BY_FOUR),
  fair('fair-16x1', 'Fair lock, 16 processes of one caller', { processes: 16, callers: 1 }),
  scenario(
    'token-4x4',
    'Token lock, 4 processes of 4 callers',
    3,
    [...WAITS, 'waitMaxMs', 'clientCommandsPerSection'],
    [
      turns('token', 'token lock', LOCK, FOUR_BY_FOUR, 'token'),
      turns('mutex', 'redis-semaphore, Mutex', REDIS_SEMAPHORE, FOUR_BY_FOUR),
      turns('set-nx', 'SET NX PX, looks every 50 ms', SET_NX, FOUR_BY_FOUR),
    ],
  ),
  scenario(
    'semaphore-64',
    '64 callers of one process on 8 permits',
    3,
    [...WAITS, 'messagesPerSection', ...COSTS],
    [
      turns('semaphore', 'semaphore', LOCK, SIXTY_FOUR, 'semaphore'),
      turns('java', 'Java Redisson', JAVA, SIXTY_FOUR, 'semaphore'),
      turns('redis-semaphore', 'redis-semaphore, Semaphore', PEERS_SEMAPHORE, SIXTY_FOUR, 'semaphore'),
    ],
  ),
  scenario(
    'held',
    '10,000 permits of one semaphore, and 10,000 locks, held and renewed by one process',
    2,
    [
      ...['renewalCommandsPerSecond', 'serverCpu', 'clientCpu', 'delayP99Ms', 'delayMaxMs'],
      ...['heapPerLock', 'takenPerSecond'],
    ],
    [
      arm('permits', 'expirable semaphore, `acquirePermit()`', LOCK, (subject, measuring) =>
        measureHeldLocks(subject, HELD, measuring, { objects: PERMITS }),
      ),
      arm('locks', 'plain locks', LOCK, (subject, measuring) => measureHeldLocks(subject, HELD, measuring)),
    ],
  ),
  scenario(
    'latch',
    '1,000 waiters in 4 processes, from zero to the last one notified',
    3,
    ['lastP50Ms', 'lastMaxMs'],
    [arm('latch', 'count-down latch', LOCK, latch), arm('java', 'Java Redisson', JAVA, latch)],
  ),
]
