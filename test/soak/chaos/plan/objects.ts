/** What can take part in a run; `locks` is what a run has that is asked for nothing else. */
export const OBJECTS = {
  locks: 'plain locks and read-write locks',
  fair: 'fair locks',
  'non-reentrant-fair': 'fair locks that are not re-entrant',
  fenced: 'fenced locks',
  'non-reentrant': 'locks that are not re-entrant',
  spin: 'spin locks',
  token: 'token locks',
  multi: 'multi locks over sets of members that overlap, given in different orders',
  semaphore: 'semaphores',
  permits: 'semaphores whose permits expire',
  latch: 'latches, set anew when they have opened',
} as const

export type ObjectKind = keyof typeof OBJECTS

export type LockKind =
  | 'lock'
  | 'readWrite'
  | 'fair'
  | 'nonReentrantFair'
  | 'fenced'
  | 'nonReentrant'
  | 'spin'
  | 'token'

/** One lock that all workers share, and who takes it in each of them. */
export interface LockPlan {
  readonly name: string
  readonly kind: LockKind
  /** All holds of it have this lease, in ms; by the watchdog where there is none. */
  readonly lease?: number
  /** Each section lasts long enough for something to break meanwhile, often longer than the lease. */
  readonly slow?: boolean
  /** Its callers ask again at once, so that it is always wanted by every process. */
  readonly hot?: boolean
  /** The longest that a caller pauses before it asks again, in ms, where that is not as usual. */
  readonly pause?: number
  /** Callers of each Node worker that take the lock, or its write side. */
  readonly writers: number
  /** Those that take its read side. */
  readonly readers: number
}

/** What is no lock on one key. */
export type ObjectPlan =
  | { readonly kind: 'multi'; readonly name: string; readonly groups: readonly (readonly string[])[] }
  | {
      readonly kind: 'semaphore' | 'permits'
      readonly name: string
      readonly total: number
      readonly callers: number
    }
  | {
      readonly kind: 'latch'
      readonly name: string
      readonly count: number
      readonly counters: number
      readonly waiters: number
    }

export interface Plans {
  readonly locks: readonly LockPlan[]
  readonly objects: readonly ObjectPlan[]
}

const LOCKS: readonly LockPlan[] = [
  { name: 'chaos:plain', kind: 'lock', hot: true, writers: 3, readers: 0 },
  // A waiter that misses a message here sleeps for long, and that shows.
  { name: 'chaos:long-lease', kind: 'lock', lease: 20_000, writers: 2, readers: 0 },
  { name: 'chaos:records', kind: 'readWrite', writers: 1, readers: 2 },
  { name: 'chaos:accounts', kind: 'readWrite', writers: 2, readers: 1 },
  // One caller a process, which asks again at once: a process that does not yield starves the others.
  { name: 'chaos:hot', kind: 'lock', hot: true, writers: 1, readers: 0 },
  { name: 'chaos:hot-records', kind: 'readWrite', hot: true, writers: 1, readers: 0 },
  // Somebody is always inside of these when something breaks.
  { name: 'chaos:slow', kind: 'lock', slow: true, writers: 1, readers: 0 },
  { name: 'chaos:slow-records', kind: 'readWrite', slow: true, writers: 1, readers: 1 },
]

const members = ['chaos:multi-a', 'chaos:multi-b', 'chaos:multi-c'] as const
const [a, b, c] = members

const PLANS: Readonly<Record<ObjectKind, Plans>> = {
  locks: { locks: LOCKS, objects: [] },
  fair: ofLocks('fair', 'chaos:fair', 2),
  'non-reentrant-fair': ofLocks('nonReentrantFair', 'chaos:non-reentrant-fair', 1),
  fenced: ofLocks('fenced', 'chaos:fenced', 2),
  'non-reentrant': ofLocks('nonReentrant', 'chaos:non-reentrant', 1),
  spin: ofLocks('spin', 'chaos:spin', 1),
  token: ofLocks('token', 'chaos:token', 2),
  multi: {
    // Each member is also wanted alone, seldom enough for those that want several.
    locks: members.map((name) => ({ name, kind: 'lock', pause: 400, writers: 1, readers: 0 })),
    objects: [
      {
        kind: 'multi',
        name: 'chaos:multi',
        groups: [
          [a, b],
          [c, b],
          [c, a],
          [b, a, c],
        ],
      },
    ],
  },
  semaphore: { locks: [], objects: [{ kind: 'semaphore', name: 'chaos:semaphore', total: 4, callers: 3 }] },
  permits: { locks: [], objects: [{ kind: 'permits', name: 'chaos:permits', total: 4, callers: 3 }] },
  latch: {
    locks: [],
    objects: [{ kind: 'latch', name: 'chaos:latch', count: 30, counters: 2, waiters: 2 }],
  },
}

/** A lock that is always wanted, and one of which somebody is always inside when something breaks. */
function ofLocks(kind: LockKind, name: string, writers: number): Plans {
  return {
    locks: [
      { name, kind, hot: true, writers, readers: 0 },
      { name: `${name}-slow`, kind, slow: true, writers: 1, readers: 0 },
    ],
    objects: [],
  }
}

/** What the workers of a run share. */
export const plansOf = (kinds: readonly ObjectKind[]): Plans => ({
  locks: kinds.flatMap((kind) => PLANS[kind].locks),
  objects: kinds.flatMap((kind) => PLANS[kind].objects),
})

/** A later generation of an object has a name of its own. */
export const nameAt = (name: string, epoch: number): string => `${name}@${epoch}`

/** The name of the object without its generation. */
export const nameWithout = (name: string): string => name.replace(/@\d+$/, '')
