import type { Case } from './matrix'
import type { FullKind, Kind } from './scene'
import { another, CALLS, expire, gone, heldThen, othersWait, renewed, rows, takenOver, times } from './steps'

const NOTIFIED_NOW = {
  why: 'the copy finds the hold gone: the caller is notified now, and not at its next look',
  outcome: { answer: { rejected: 'LOCK_LOST' } },
} as const
const ECHO = {
  why: '"not held" after a break may be the echo of its own first copy, and within the lease is taken for that',
  outcome: { answer: { value: undefined }, lost: [] },
} as const

/** The states in which a holder may find its hold at an end. */
const ENDS = { 'gone by force': gone, 'taken over by another': takenOver, expired: expire } as const

export function reentering(kind: Exclude<Kind, 'fair-lock'>): Case[] {
  const reenter = rows({ kind, script: `${kind}/reenter`, act: CALLS.reenter })
  return [
    ...[1, 3].map(
      (levels): Case =>
        reenter(`held ${levels}×`, { levels: levels + 1 }, ({ lock }) => times(levels, () => lock.lock())),
    ),
    reenter(
      'held, with a longer lease',
      { act: ({ lock }) => lock.tryLock(20_000, 60_000), levels: 2 },
      ({ lock }) => lock.lock(20_000),
    ),
    reenter('held, with a shorter lease', { act: ({ lock }) => lock.lock(20_000), levels: 2 }, ({ lock }) =>
      lock.lock(60_000),
    ),
    reenter(
      'held, after a partial release',
      { act: ({ lock }) => lock.lock(60_000), levels: 2 },
      async ({ lock }) => {
        await lock.lock(20_000)
        await lock.lock(60_000)
        await lock.unlock()
      },
    ),
    reenter('held, others wait', { levels: 2 }, heldThen(othersWait)),
    ...Object.entries(ENDS).flatMap(([state, end]): Case[] => [
      reenter(state, { levels: 1 }, heldThen(end)),
      reenter(`held, ${state} meanwhile`, { meanwhile: end, levels: 1, unlike: NOTIFIED_NOW }, ({ lock }) =>
        lock.lock(),
      ),
    ]),
  ]
}

export function releasing(kind: FullKind | 'fair-lock'): Case[] {
  const release = rows({ kind, script: `${kind}/release`, act: CALLS.release })
  return [
    release(
      'held once',
      {
        // One more than there is: it must be notified.
        levels: 1,
      },
      ({ lock }) => lock.lock(),
    ),
    release('held 3×', { levels: 2 }, ({ lock }) => times(3, () => lock.lock())),
    release('held 2×, the outer level with a shorter lease', { levels: 1 }, async ({ lock }) => {
      await lock.lock(20_000)
      await lock.lock(60_000)
    }),
    release('held once, others wait', { afterwards: (scene) => scene.letIn(true) }, heldThen(othersWait)),
    release(
      'held once, others of this client wait',
      { afterwards: (scene) => scene.letIn(true) },
      heldThen((scene) => scene.othersWait(scene.ownRival)),
    ),
    release(
      'held once, the next is in before the copy',
      { meanwhile: ({ rival }) => rival.lock(another) },
      ({ lock }) => lock.lock(),
    ),
    ...Object.entries(ENDS).flatMap(([state, end]): Case[] => [
      release(state, { unlike: ECHO }, heldThen(end)),
      release(`held 2×, ${state}`, { levels: 1 }, async (scene) => {
        await times(2, () => scene.lock.lock())
        await end(scene)
      }),
      release(
        `held 2×, ${state} meanwhile`,
        { meanwhile: end, levels: 1, unlike: NOTIFIED_NOW },
        ({ lock }) => times(2, () => lock.lock()),
      ),
    ]),
  ]
}

export function renewing(kind: Kind): Case[] {
  // A write hold is renewed as a plain lock's.
  const script = kind === 'read-lock' ? 'read-lock/renew' : 'lock/renew'
  const renew = rows({ kind, script, lockWatchdogTimeout: 9_000, act: renewed })
  return [
    ...[1, 3].map(
      (levels): Case => renew(`held ${levels}×`, { levels }, ({ lock }) => times(levels, () => lock.lock())),
    ),
    renew('held, others wait', { levels: 1 }, heldThen(othersWait)),
    ...Object.entries(ENDS).flatMap(([state, end]): Case[] => [
      renew(state, { act: (scene) => scene.reported(), levels: 1 }, heldThen(end)),
      renew(`held, ${state} meanwhile`, { meanwhile: end, levels: 1 }, ({ lock }) => lock.lock()),
    ]),
  ]
}
