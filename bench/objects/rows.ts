import { figure, type ObjectTarget, ratio, ratioToBest } from './targets'

/** A window cuts through sections at both its ends, so commands and messages a section are not exact. */
const CUT = 0.05
/** What is to cost nothing may differ by what two rounds differ. */
const NOTHING = 1.1
/** Three calls refresh 5,000 places, 2,000 places each at most, at every third of their allowance of 5 s. */
const REFRESHES_A_SECOND = 3 * 0.6

const ofPlain = 'of the plain lock’s rate'
const PEERS = ['mutex', 'set-nx']

/** Of "how much longer a cycle takes than the plain lock's". */
const cycleOfPlain = (arm: string) => ratio('lock', arm)

const LOCKS: readonly ObjectTarget[] = [
  {
    object: 'fenced, one caller',
    what: ofPlain,
    group: 'one-caller',
    value: ratio('fenced', 'lock'),
    atLeast: 0.9,
  },
  {
    object: 'non-reentrant, one caller',
    what: ofPlain,
    isDetail: true,
    group: 'one-caller',
    value: ratio('non-reentrant', 'lock'),
    atLeast: 0.9,
  },
  {
    object: 'fair, one caller',
    what: ofPlain,
    isDetail: true,
    group: 'one-caller',
    value: ratio('fair', 'lock'),
  },
  {
    object: 'fair, 4 × 4',
    what: 'of Java’s rate',
    group: 'fair-4x4',
    value: ratio('fair', 'java'),
    atLeast: 3,
  },
  {
    object: 'fair, 4 × 4',
    what: 'messages a section',
    isDetail: true,
    group: 'fair-4x4',
    value: figure('fair', 'messagesPerSection'),
    atMost: 1 + CUT,
  },
  { object: 'fair, 4 × 4', what: ofPlain, group: 'fair-4x4', value: ratio('fair', 'lock') },
  {
    object: 'fair, 16 × 1',
    what: 'of Java’s rate',
    group: 'fair-16x1',
    value: ratio('fair', 'java'),
    atLeast: 3,
  },
  {
    object: 'fair, 16 × 1',
    what: 'messages a section',
    isDetail: true,
    group: 'fair-16x1',
    value: figure('fair', 'messagesPerSection'),
    atMost: 1 + CUT,
  },
  {
    object: 'fair, 16 × 1',
    what: ofPlain,
    isDetail: true,
    group: 'fair-16x1',
    value: ratio('fair', 'lock'),
    atLeast: 1.5,
  },
  {
    object: 'multi of 3 on one server',
    what: 'time of one lock',
    isDetail: true,
    group: 'members',
    value: cycleOfPlain('multi-one-server'),
    atMost: 3.3,
  },
  {
    object: 'multi of 3 servers',
    what: 'time of one lock',
    group: 'members',
    value: cycleOfPlain('multi'),
    atMost: 1.5,
  },
  {
    object: 'red of 5 servers',
    what: 'time of one lock',
    group: 'members',
    value: cycleOfPlain('red'),
    atMost: 1.6,
  },
  {
    object: 'red, one server stopped',
    what: 'time of the same with all five',
    group: 'members',
    value: ratio('red', 'red-stalled'),
    atMost: NOTHING,
  },
  {
    object: 'token, one caller',
    what: 'of redis-semaphore’s rate',
    group: 'one-caller',
    value: ratio('token', 'mutex'),
    atLeast: 0.95,
  },
  {
    object: 'token, one caller',
    what: 'of the rate of SET NX PX',
    isDetail: true,
    group: 'one-caller',
    value: ratio('token', 'set-nx'),
    atLeast: 0.95,
  },
  {
    object: 'token, 4 × 4',
    what: 'of the best of both',
    group: 'token-4x4',
    value: ratioToBest('token', PEERS, 'sectionsPerSecond', 'sectionsPerSecond'),
    atLeast: 1.3,
  },
  {
    object: 'token, 4 × 4',
    what: 'p99 wait, of that one’s',
    group: 'token-4x4',
    value: ratioToBest('token', PEERS, 'waitP99Ms', 'sectionsPerSecond'),
    atMost: 0.25,
  },
  {
    object: '5,000 fair waiters, idle',
    what: 'commands a second: 1, and the refreshes',
    isDetail: true,
    group: 'fair-idle',
    value: figure('fair', 'idleCommandsPerSecond'),
    atMost: 1 + REFRESHES_A_SECOND,
  },
]

const SYNCHRONIZERS: readonly ObjectTarget[] = [
  {
    object: 'semaphore, one caller',
    what: 'of the no-op baseline',
    group: 'one-caller',
    value: ratio('semaphore', 'no-op'),
    atLeast: 0.9,
  },
  {
    object: 'semaphore, one caller',
    what: 'client commands a cycle',
    isDetail: true,
    group: 'one-caller',
    value: figure('semaphore', 'clientCommandsPerSection'),
    atMost: 2 + CUT,
  },
  {
    object: '64 callers on 8 permits',
    what: 'of Java’s rate',
    group: 'semaphore-64',
    value: ratio('semaphore', 'java'),
    atLeast: 2,
  },
  {
    object: '64 callers on 8 permits',
    what: 'of redis-semaphore’s rate',
    group: 'semaphore-64',
    value: ratio('semaphore', 'redis-semaphore'),
    atLeast: 3,
  },
  {
    object: '64 callers on 8 permits',
    what: 'p99 wait, in turns of a perfect queue',
    isDetail: true,
    group: 'semaphore-64',
    value: figure('semaphore', 'waitP99Turns'),
    atMost: 3,
  },
  {
    object: '4 × 16 on 8 permits',
    what: 'of Java’s rate',
    isDetail: true,
    group: 'semaphore-4x16',
    value: ratio('semaphore', 'java'),
    atLeast: 2,
  },
  {
    object: '4 × 16 on 8 permits',
    what: 'client commands a section',
    isDetail: true,
    group: 'semaphore-4x16',
    value: figure('semaphore', 'clientCommandsPerSection'),
    atMost: 2.5,
  },
  {
    object: 'expirable, one caller',
    what: 'of the no-op baseline',
    group: 'one-caller',
    value: ratio('expirable', 'no-op'),
    atLeast: 0.8,
  },
  ...(
    [
      ['commands a second', 'renewalCommandsPerSecond', false],
      ['CPU of the server', 'serverCpu', true],
      ['CPU of the client', 'clientCpu', true],
    ] as const
  ).map(([what, name, isDetail]) => ({
    isDetail,
    object: '10,000 permits held',
    what: `${what}, of that of 10,000 locks`,
    group: 'held',
    value: ratio('permits', 'locks', name),
    atMost: NOTHING,
  })),
  {
    object: 'latch, 1,000 waiters',
    what: 'until the last is notified, of Java’s time',
    group: 'latch',
    value: ratio('latch', 'java', 'lastP50Ms'),
    atMost: 1,
  },
]

export const TARGETS: readonly ObjectTarget[] = [...LOCKS, ...SYNCHRONIZERS]
