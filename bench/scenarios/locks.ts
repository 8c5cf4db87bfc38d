// The plain lock beside the locks of other libraries.

import { type CallersSetup, measureCallers } from '../driver/callers'
import { measureHandoff } from '../driver/handoff'
import { measureHeldLocks } from '../driver/held-locks'
import { measureIdleWaiters } from '../driver/idle-waiters'
import type { Measuring } from '../driver/measuring'
import type { Subject } from '../subjects/catalogue'
import type { Figures, Measured, Scenario, Trouble } from './scenario'

interface Setup {
  readonly columns: readonly string[]
  readonly mostRounds?: Scenario['mostRounds']
  takesPart?(subject: Subject, quick: boolean): boolean
  measure(subject: Subject, measuring: Measuring): Promise<Measured>
}

function scenario(
  name: string,
  title: string,
  { columns, mostRounds, takesPart = () => true, measure }: Setup,
): Scenario {
  return {
    ...{ name, title, columns },
    ...(mostRounds && { mostRounds }),
    arms: (subjects, quick) =>
      subjects
        .filter((subject) => takesPart(subject, quick))
        .map((subject) => ({ ...subject, measure: (measuring) => measure(subject, measuring) })),
  }
}

const once = { quick: 1, full: 1 }
const twice = { quick: 1, full: 2 }
const thrice = { quick: 1, full: 3 }
const locks = ({ kind, resembles }: Subject, quick: boolean) => kind !== 'limit' && !(quick && resembles)
const named =
  (...names: string[]) =>
  ({ name }: Subject) =>
    names.includes(name)

const TRAFFIC = ['clientCommandsPerSection', 'serverCommandsPerSection', 'messagesPerSection']
const CONTENDED = [
  ...['sectionsPerSecond', 'ofLimit', 'waitP50Ms', 'waitP99Ms', 'waitMaxMs', 'waitP99Turns'],
  ...['leastCallerShare', 'overtakenShare'],
]

/** Where the subjects contend, the limit is that of one caller: it has no lock for more of them to contend for. */
const ALONE: CallersSetup = { processes: 1, callers: 1, locks: 1 }

function throughput(name: string, title: string, setup: CallersSetup, columns: readonly string[]): Scenario {
  const contended = setup.locks < setup.processes * setup.callers
  const setupOf = ({ kind }: Subject) => (contended && kind === 'limit' ? ALONE : setup)
  return scenario(name, title, {
    columns,
    measure: (subject, measuring) => measureCallers(subject, setupOf(subject), measuring.single, measuring),
  })
}

function inCluster(name: string, title: string, setup: CallersSetup): Scenario {
  return scenario(name, title, {
    columns: ['sectionsPerSecond', 'ofLimit', 'waitP50Ms', 'waitP99Ms', 'clientCommandsPerSection'],
    mostRounds: thrice,
    takesPart: named('rlock', 'java', 'limit'),
    measure: async (subject, measuring) =>
      measureCallers(subject, setup, await measuring.cluster(), measuring),
  })
}

/** Long enough that the next caller sleeps; those that are notified of a release need no more. */
const HOLD = 20

/** Those that poll must come by within the time the last holder stays away, half a hold: or it would be in again. */
const holding = ({ longestPollMs = 0 }: Subject) => ({
  holdMs: Math.max(HOLD, Math.ceil(2.2 * longestPollMs)),
  jitterMs: longestPollMs,
})

async function measureHandoffs(subject: Subject, measuring: Measuring): Promise<Measured> {
  const { p50, p99, roundTripMs, troubles } = await measureHandoff(subject, holding(subject), measuring)
  const roundTrips = p50 / roundTripMs
  const figures = { handoffP50Ms: p50, handoffP99Ms: p99, handoffRoundTrips: roundTrips, roundTripMs }
  return { figures, troubles }
}

/** Several measurements as one: the figures that `named` picks of each, and all troubles. */
async function together<T>(
  setups: readonly T[],
  measure: (setup: T) => Promise<Measured>,
  named: (figures: Figures, setup: T) => Figures,
): Promise<Measured> {
  const all: Figures[] = []
  const troubles: Trouble[] = []
  for (const setup of setups) {
    const measured = await measure(setup)
    all.push(named(measured.figures, setup))
    troubles.push(...measured.troubles)
  }
  return { figures: Object.assign({}, ...all), troubles }
}

const COUNTS = [1, 2, 4, 8, 16]
/** Sixteen virtual machines on a small machine start for longer than a quick run may take. */
const quickCounts = ({ runsOn }: Subject) => (runsOn === 'java' ? [1, 4] : [1, 4, 16])

/** What each message to or from the second process takes more, in ms; through the proxy in any case. */
const DISTANCES = [0, 1, 5]
/** A turn of both takes 30 ms at the greatest distance: a short window would see few of them. */
const LEAST_WINDOW_MS = 1_000

/** One caller each: a process that gets the lock at each first try never has to wait. */
function measureFar(subject: Subject, measuring: Measuring): Promise<Measured> {
  const measureMs = Math.max(measuring.measureMs, LEAST_WINDOW_MS)
  const setups = (measuring.quick ? [5] : DISTANCES).flatMap((farMs): CallersSetup[] => {
    const lock = { processes: 2, callers: 1, locks: 1, holdMs: 5, farMs }
    return [lock, { ...lock, reading: { readers: 0, writers: 1 } }]
  })
  return together(
    setups,
    (setup) => measureCallers(subject, setup, measuring.single, { ...measuring, measureMs }),
    ({ leastProcessShare, sectionsPerSecond }, { reading, farMs }) =>
      reading
        ? { [`leastWriterShareAt${farMs}`]: leastProcessShare! }
        : {
            [`leastShareAt${farMs}`]: leastProcessShare!,
            [`sectionsPerSecondAt${farMs}`]: sectionsPerSecond!,
          },
  )
}

export const LOCK_SCENARIOS: readonly Scenario[] = [
  throughput('one-caller', 'One caller alone', ALONE, ['sectionsPerSecond', 'ofLimit', 'ofJava', ...TRAFFIC]),
  throughput('many-locks', '64 callers on 64 locks, one process', { processes: 1, callers: 64, locks: 64 }, [
    'sectionsPerSecond',
    'ofLimit',
    'waitP50Ms',
    'waitP99Ms',
    'clientCommandsPerSection',
  ]),
  throughput('one-process', '50 callers on one lock, one process', { processes: 1, callers: 50, locks: 1 }, [
    ...CONTENDED,
    ...TRAFFIC,
  ]),
  throughput(
    'four-processes',
    '4 processes of 4 callers on one lock',
    { processes: 4, callers: 4, locks: 1 },
    [...CONTENDED, 'leastProcessShare', ...TRAFFIC],
  ),
  scenario('handoff', 'From release to the next holder inside, between two processes', {
    columns: [...['handoffP50Ms', 'handoffP99Ms', 'handoffRoundTrips', 'ofJavaHandoff', 'roundTripMs']],
    mostRounds: thrice,
    takesPart: locks,
    measure: measureHandoffs,
  }),
  scenario(
    'idle-waiters',
    '1,000 waiters, 250 in each of 4 processes, on a lock that another process holds',
    {
      columns: ['idleCommandsPerSecond', 'heapPerWaiter', 'serverCpu'],
      mostRounds: twice,
      takesPart: locks,
      measure: (subject, measuring) => measureIdleWaiters(subject, { processes: 4, waiters: 250 }, measuring),
    },
  ),
  scenario(
    'sixteen-processes',
    '1 to 16 processes of one caller on one lock: client commands a section, and sections a second',
    {
      columns: [...COUNTS.map((count) => `commandsAt${count}`), ...COUNTS.map((count) => `rateAt${count}`)],
      mostRounds: once,
      takesPart: locks,
      measure: (subject, measuring) =>
        together(
          measuring.quick ? quickCounts(subject) : COUNTS,
          (processes) =>
            measureCallers(subject, { processes, callers: 1, locks: 1 }, measuring.single, measuring),
          ({ clientCommandsPerSection, sectionsPerSecond }, processes) => ({
            [`commandsAt${processes}`]: clientCommandsPerSection!,
            [`rateAt${processes}`]: sectionsPerSecond!,
          }),
        ),
    },
  ),
  scenario(
    'far-process',
    '2 processes of one caller on one lock, sections of 5 ms; of its fair share, what the least process gets where ' +
      'the second is 0, 1 and 5 ms farther away each way',
    {
      columns: [
        ...DISTANCES.map((ms) => `leastShareAt${ms}`),
        ...DISTANCES.map((ms) => `leastWriterShareAt${ms}`),
        'sectionsPerSecondAt5',
      ],
      mostRounds: twice,
      takesPart: ({ name }, quick) => name === 'rlock' || (name === 'java' && !quick),
      measure: measureFar,
    },
  ),
  scenario(
    'read-write',
    'Read-mostly: 2 processes of 8 callers on one read-write lock, 9 of 10 turns read, each turn 1 ms',
    {
      columns: [
        ...['sectionsPerSecond', 'ofJava', 'waitP50Ms', 'waitP99Ms', 'waitMaxMs', 'leastCallerShare'],
        'clientCommandsPerSection',
      ],
      mostRounds: { quick: 1, full: 5 },
      takesPart: named('rlock', 'java'),
      measure: (subject, measuring) =>
        measureCallers(
          subject,
          { processes: 2, callers: 8, locks: 1, holdMs: 1, reading: { readers: 9, writers: 1 } },
          measuring.single,
          measuring,
        ),
    },
  ),
  scenario('held-locks', '100,000 locks held by one process and renewed (10,000 with --quick)', {
    columns: [
      ...['heldLocks', 'renewalCommandsPerSecond', 'serverCpu', 'clientCpu', 'delayP99Ms', 'delayMaxMs'],
      ...['heapPerLock', 'takenPerSecond'],
    ],
    mostRounds: twice,
    takesPart: ({ kind, renewsEveryMs }, quick) => renewsEveryMs !== undefined && (kind === 'this' || !quick),
    measure: (subject, measuring) => measureHeldLocks(subject, measuring.quick ? 10_000 : 100_000, measuring),
  }),
  inCluster('cluster-one-caller', 'One caller alone, in a cluster of three primaries', ALONE),
  inCluster('cluster-many-locks', '64 callers on 64 locks, one process, in a cluster of three primaries', {
    ...{ processes: 1, callers: 64, locks: 64 },
  }),
]
