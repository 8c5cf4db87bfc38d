/** What the driver knows of a subject; the code that drives it is loaded by the worker alone. */
export interface Subject {
  readonly name: string
  /** In tables and charts. */
  readonly title: string
  readonly kind: 'this' | 'peer' | 'baseline' | 'limit'
  readonly runsOn: 'node' | 'java'
  /** The npm package whose version the results give. */
  readonly package?: string
  /** What is not its default, or must be known to judge its figures. */
  readonly notes: readonly string[]
  /**
   * Commands that its clients send plainly and that are not clear by themselves: how much of the server's count
   * of each was sent by a client rather than called by one of its scripts.
   */
  readonly alsoSent?: Readonly<Record<string, number>>
  /** Where it renews what it holds by itself: how often. */
  readonly renewsEveryMs?: number
  /** Another subject that works alike; a quick run leaves this one out of what takes long. */
  readonly resembles?: string
  /** Where it polls: the longest time between two looks. */
  readonly longestPollMs?: number
}

export const SUBJECTS: readonly Subject[] = [
  {
    name: 'limit',
    title: 'limit (two trivial EVALSHA)',
    kind: 'limit',
    runsOn: 'node',
    notes: [
      'two EVALSHA calls of `return 1`, one after the other, over the ioredis that rlock uses; locks nothing',
    ],
  },
  {
    name: 'rlock',
    title: 'rlock',
    kind: 'this',
    runsOn: 'node',
    package: 'rlock',
    renewsEveryMs: 10_000,
    // Behind each renewal, by which the server is to tell of keys that change, and with an EXISTS that scripts call too.
    alsoSent: { 'client|caching': 2 },
    notes: ['`acquire()` and `hold.unlock()`; all defaults'],
  },
  {
    name: 'java',
    title: 'Java Redisson',
    kind: 'peer',
    runsOn: 'java',
    notes: ['`lock()` and `unlock()` by real threads; all defaults of Redisson and of the JVM'],
  },
  {
    name: 'node-redisson',
    title: 'node-redisson',
    kind: 'peer',
    runsOn: 'node',
    package: 'node-redisson',
    renewsEveryMs: 10_000,
    notes: ['`lock()` and `unlock()` of a lock object for each caller; all defaults'],
    // Each release deletes two keys: the lock by its script, and plainly a key by which it knows a repeated call.
    alsoSent: { del: 0.5 },
  },
  {
    name: 'redis-semaphore',
    title: 'redis-semaphore',
    kind: 'peer',
    runsOn: 'node',
    package: 'redis-semaphore',
    renewsEveryMs: 8_000,
    notes: ['`Mutex`, one for each caller; all defaults: looks every 10 ms, gives up after 10 s'],
    alsoSent: { set: 1 },
    longestPollMs: 10,
  },
  {
    name: 'redlock',
    title: 'redlock',
    kind: 'peer',
    runsOn: 'node',
    package: 'redlock',
    longestPollMs: 300,
    notes: [
      '`acquire([name], 5000)` and `release()` on one server; looks every 200 ms, give or take 100, as by default',
      'acquisitions are retried without limit: the default of ten fails where many contend',
    ],
  },
  {
    name: 'sesamecare-redlock',
    title: '@sesamecare-oss/redlock',
    kind: 'peer',
    runsOn: 'node',
    package: '@sesamecare-oss/redlock',
    resembles: 'redlock',
    longestPollMs: 300,
    notes: [
      '`acquire([name], 5000)` and `release()` on one server; looks every 200 ms, give or take 100, as by default',
      'acquisitions are retried without limit: the default of ten fails where many contend',
    ],
  },
  {
    name: 'set-nx-polling',
    title: 'SET NX PX, polling',
    kind: 'baseline',
    runsOn: 'node',
    notes: ['looks every 50 ms; compares and deletes by a script; no renewal'],
    alsoSent: { set: 1 },
    longestPollMs: 50,
  },
  {
    name: 'hash-polling',
    title: 'hash script, polling',
    resembles: 'set-nx-polling',
    kind: 'baseline',
    runsOn: 'node',
    notes: ['the hash of Redisson by two scripts; looks every 50 ms; no messages, no renewal'],
    longestPollMs: 50,
  },
]

export const PEERS_AND_BASELINES: readonly string[] = SUBJECTS.filter(
  ({ kind }) => kind === 'peer' || kind === 'baseline',
).map(({ name }) => name)
