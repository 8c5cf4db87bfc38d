import type { Step } from './call-sequence'
import { READ, WRITE } from './lock-peer'

const R = READ
const W = WRITE
const LONG = 20_000

/** All that can be asked about both sides. */
const asks = (who: 'a' | 'b'): readonly Step[] =>
  [R, W].flatMap((side): Step[] => [
    [who, 'isLocked', side],
    [who, 'isHeldByCurrentThread', side],
    [who, 'getHoldCount', side],
    [who, 'remainTimeToLive', side],
  ])

/**
 * Every transition of a read-write lock's state that Java and ours have in common, at every
 * version. What differs is pinned in interop/read-write-differences.ts.
 */
export const READ_WRITE_SEQUENCES: Record<string, readonly Step[]> = {
  'one reads': [...asks('b'), ['a', 'lock', R], ...asks('a'), ...asks('b'), ['a', 'unlock', R], ...asks('b')],
  'one writes': [['a', 'lock', W], ...asks('a'), ...asks('b'), ['a', 'unlock', W], ...asks('b')],

  'two read, each more than once, and one releases too often': [
    ['a', 'lock', { ...R, leaseTime: LONG }],
    ['b', 'lock', { ...R, leaseTime: LONG }],
    ['b', 'lock', { ...R, leaseTime: LONG }],
    ...asks('a'),
    ...asks('b'),
    ['a', 'tryLock', { ...R, leaseTime: LONG }],
    ['b', 'unlock', R],
    ['a', 'unlock', R],
    ['a', 'unlock', R],
    ['a', 'unlock', R],
    ...asks('a'),
    ['b', 'unlock', R],
  ],
  'two read and the key lives as long as the longer of their leases': [
    ['a', 'lock', { ...R, leaseTime: 10_000 }],
    ['b', 'lock', { ...R, leaseTime: LONG }],
    ['b', 'unlock', R],
    ['b', 'lock', { ...R, leaseTime: 5_000 }],
    ['a', 'unlock', R],
    ['b', 'unlock', R],
  ],
  'a reader releases the level that it took last, with its lease': [
    ['a', 'lock', { ...R, leaseTime: 10_000 }],
    ['a', 'lock', { ...R, leaseTime: LONG }],
    ['a', 'unlock', R],
    ['a', 'lock', { ...R, leaseTime: 5_000 }],
    ['a', 'unlock', R],
    ['a', 'unlock', R],
  ],
  // 600 ms tell a lease that was set anew (10 s) from one that went on running (9 s).
  'a reader re-enters; what is left when it releases a level is what the outer one had left': [
    ['a', 'lock', { ...R, leaseTime: 10_000 }],
    ['sleep', 600],
    ['a', 'lock', { ...R, leaseTime: 10_000 }],
    ['a', 'unlock', R],
    ['a', 'unlock', R],
  ],
  'a writer re-enters and adds its lease to what is left; a partial release sets the lease anew': [
    ['a', 'lock', { ...W, leaseTime: 10_000 }],
    ['sleep', 600],
    ['a', 'lock', { ...W, leaseTime: 10_000 }],
    ...asks('b'),
    ['a', 'unlock', W],
    ['a', 'unlock', W],
  ],

  'no other caller enters beside a writer': [
    ['a', 'lock', { ...W, leaseTime: LONG }],
    ['b', 'tryLock', R],
    ['b', 'tryLock', { ...R, waitTime: 80 }],
    ['b', 'tryLock', W],
    ['b', 'tryLock', { ...W, waitTime: 80, leaseTime: 5_000 }],
    ['b', 'unlock', W],
    ['a', 'tryLock', { ...W, waitTime: 80, leaseTime: LONG }],
    ['a', 'unlock', W],
    ['a', 'unlock', W],
  ],
  'no writer enters beside a reader, not even the reader itself': [
    ['a', 'tryLock', { ...R, leaseTime: LONG }],
    ['b', 'tryLock', W],
    ['b', 'tryLock', { ...W, waitTime: 80 }],
    ['a', 'tryLock', W],
    ['b', 'tryLock', { ...R, waitTime: 80, leaseTime: LONG }],
    ['a', 'unlock', W],
    ['b', 'unlock', R],
    ['a', 'unlock', R],
    ['b', 'tryLock', W],
    ['b', 'unlock', W],
  ],
  "one cannot release the other's side": [
    ['a', 'lock', { ...R, leaseTime: LONG }],
    ['b', 'unlock', R],
    ['b', 'unlock', W],
    ['a', 'unlock', W],
    ['a', 'unlock', R],
    ['a', 'lock', { ...W, leaseTime: LONG }],
    ['b', 'unlock', R],
    ['b', 'unlock', W],
    ['a', 'unlock', R],
    ['a', 'unlock', W],
  ],

  'a writer reads as well, and steps down': [
    ['a', 'lock', { ...W, leaseTime: LONG }],
    ['a', 'lock', { ...R, leaseTime: LONG }],
    ['b', 'isLocked', W],
    ['b', 'tryLock', R],
    ['b', 'tryLock', W],
    ['a', 'unlock', { ...W, onlyNodeTells: '1' }],
    ...asks('a'),
    ...asks('b'),
    ['b', 'tryLock', W],
    ['b', 'tryLock', { ...R, leaseTime: LONG }],
    ['a', 'unlock', R],
    ['b', 'unlock', R],
  ],
  'a writer reads as well, and stops reading first': [
    ['a', 'lock', { ...W, leaseTime: LONG }],
    ['a', 'tryLock', { ...R, leaseTime: LONG }],
    ['a', 'getHoldCount', R],
    ['a', 'getHoldCount', W],
    ['a', 'unlock', R],
    ['a', 'isLocked', W],
    ['b', 'tryLock', R],
    ['a', 'unlock', W],
  ],
  'a writer reads twice and writes twice, and releases all crosswise': [
    ['a', 'lock', { ...W, leaseTime: LONG }],
    ['a', 'lock', { ...R, leaseTime: LONG }],
    ['a', 'lock', { ...R, leaseTime: LONG }],
    ['a', 'lock', { ...W, leaseTime: LONG }],
    ['a', 'unlock', W],
    ['a', 'unlock', R],
    ['a', 'unlock', { ...W, onlyNodeTells: '1' }],
    ['b', 'tryLock', { ...R, leaseTime: LONG }],
    ['b', 'unlock', R],
    ['a', 'unlock', R],
  ],

  'a forced release ends its own side only': [
    ['b', 'forceUnlock', R],
    ['b', 'forceUnlock', W],
    ['a', 'lock', { ...R, leaseTime: LONG }],
    ['b', 'lock', { ...R, leaseTime: LONG }],
    ['a', 'lock', { ...R, leaseTime: LONG }],
    ['b', 'forceUnlock', W],
    ['b', 'forceUnlock', { ...R, onlyJavaLeavesReadTimeouts: true }],
    ...asks('a'),
    ['a', 'lock', { ...W, leaseTime: LONG }],
    ['a', 'lock', { ...W, leaseTime: LONG }],
    ['b', 'forceUnlock', R],
    ['b', 'forceUnlock', W],
    ...asks('a'),
    ['b', 'forceUnlock', W],
  ],
  'a forced release of a writer ends what it reads': [
    ['a', 'lock', { ...W, leaseTime: LONG }],
    ['a', 'lock', { ...R, leaseTime: LONG }],
    ['b', 'forceUnlock', { ...W, onlyJavaLeavesReadTimeouts: true }],
    ...asks('a'),
  ],

  'writer to waiting reader to waiting writer': [
    ['a', 'lock', { ...W, leaseTime: LONG }],
    ['b', 'lock', { ...R, leaseTime: LONG, starts: true }],
    ['a', 'unlock', { ...W, ends: true }],
    ['a', 'lock', { ...W, leaseTime: LONG, starts: true }],
    ['b', 'getHoldCount', R],
    ['b', 'unlock', { ...R, ends: true }],
    ['b', 'lock', { ...W, leaseTime: 10_000, starts: true }],
    ['a', 'unlock', { ...W, ends: true }],
    ['b', 'unlock', W],
  ],

  'leases that run out': [
    ['a', 'lock', { ...W, leaseTime: 120 }],
    ['sleep', 250],
    ...asks('b'),
    ['b', 'lock', { ...R, leaseTime: 120 }],
    ['sleep', 250],
    ...asks('a'),
    ['a', 'tryLock', { ...W, leaseTime: LONG }],
    ['a', 'unlock', W],
  ],
  'a reader whose lease has run out keeps no caller out once the others have released': [
    ['a', 'lock', { ...R, leaseTime: 120 }],
    ['b', 'lock', { ...R, leaseTime: LONG }],
    ['sleep', 250],
    ['b', 'isLocked', R],
    ['b', 'unlock', R],
    ['b', 'tryLock', W],
    ['b', 'unlock', W],
  ],
}

/** Short, but through every key and channel a read-write lock has. */
export const READ_WRITE_ROUND: readonly Step[] = [
  ['a', 'lock', { ...R, leaseTime: LONG }],
  ['b', 'tryLock', W],
  ['b', 'lock', { ...W, starts: true }],
  ['a', 'unlock', { ...R, ends: true }],
  ['a', 'forceUnlock', W],
]
