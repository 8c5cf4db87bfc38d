/** What the driver knows of a subject; the code that drives it is loaded by the worker alone. */
export interface Subject {
  readonly name: string
  /** In tables and charts. */
  readonly title: string
  readonly kind: 'this' | 'peer' | 'baseline' | 'limit'
  readonly runsOn: 'node' | 'java'
  /** The npm package whose version the results give. */
  readonly package?: string
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

const peer = { kind: 'peer', runsOn: 'node' } as const

/** Two EVALSHA calls of `return 1`, one after the other, over the ioredis that rlock uses; locks nothing. */
export const LIMIT: Subject = {
  name: 'limit',
  title: 'limit (two trivial EVALSHA)',
  kind: 'limit',
  runsOn: 'node',
}

/** The plain lock, by `acquire()` and `hold.unlock()`. */
export const LOCK: Subject = {
  name: 'rlock',
  title: 'rlock',
  kind: 'this',
  runsOn: 'node',
  package: 'rlock',
  renewsEveryMs: 10_000,
  // Behind each renewal, by which the server is to tell of keys that change, and with an EXISTS that scripts call too.
  alsoSent: { 'client|caching': 2 },
}

/** `lock()` and `unlock()` by real threads; all defaults of Redisson and of the JVM. */
export const JAVA: Subject = { name: 'java', title: 'Java Redisson', kind: 'peer', runsOn: 'java' }

/** `Mutex`, one for each caller; all defaults: looks every 10 ms, gives up after 10 s. */
export const REDIS_SEMAPHORE: Subject = {
  ...peer,
  name: 'redis-semaphore',
  title: 'redis-semaphore',
  package: 'redis-semaphore',
  renewsEveryMs: 8_000,
  alsoSent: { set: 1 },
  longestPollMs: 10,
}

/** Looks every 50 ms; compares and deletes by a script; no renewal. */
export const SET_NX: Subject = {
  name: 'set-nx-polling',
  title: 'SET NX PX, polling',
  kind: 'baseline',
  runsOn: 'node',
  alsoSent: { set: 1 },
  longestPollMs: 50,
}

export const SUBJECTS: readonly Subject[] = [
  LIMIT,
  LOCK,
  JAVA,
  {
    ...peer,
    name: 'node-redisson',
    title: 'node-redisson',
    package: 'node-redisson',
    renewsEveryMs: 10_000,
    // Each release deletes two keys: the lock by its script, and plainly a key by which it knows a repeated call.
    alsoSent: { del: 0.5 },
  },
  REDIS_SEMAPHORE,
  // Both look every 200 ms, give or take 100, as by default, and are retried without limit: ten tries fail where many contend.
  { ...peer, name: 'redlock', title: 'redlock', package: 'redlock', longestPollMs: 300 },
  {
    ...peer,
    name: 'sesamecare-redlock',
    title: '@sesamecare-oss/redlock',
    package: '@sesamecare-oss/redlock',
    resembles: 'redlock',
    longestPollMs: 300,
  },
  SET_NX,
]
