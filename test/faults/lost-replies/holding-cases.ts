import type { Case } from './matrix'
import type { FullKind, Kind } from './scene'
import { another, CALLS, expire, gone, heldThen, othersWait, renewed, takenOver, times } from './steps'

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
  const reenter = { kind, script: `${kind}/reenter`, act: CALLS.reenter } as const
  return [
    ...[1, 3].map(
      (levels): Case => ({
        ...reenter,
        state: `held ${levels}×`,
        arrange: ({ lock }) => times(levels, () => lock.lock()),
        levels: levels + 1,
      }),
    ),
    {
      ...reenter,
      state: 'held, with a longer lease',
      arrange: ({ lock }) => lock.lock(20_000),
      act: ({ lock }) => lock.tryLock(20_000, 60_000),
      levels: 2,
    },
    {
      ...reenter,
      state: 'held, with a shorter lease',
      arrange: ({ lock }) => lock.lock(60_000),
      act: ({ lock }) => lock.lock(20_000),
      levels: 2,
    },
    {
      ...reenter,
      state: 'held, after a partial release',
      arrange: async ({ lock }) => {
        await lock.lock(20_000)
        await lock.lock(60_000)
        await lock.unlock()
      },
      act: ({ lock }) => lock.lock(60_000),
      levels: 2,
    },
    {
      ...reenter,
      state: 'held, others wait',
      arrange: heldThen(othersWait),
      levels: 2,
    },
    ...Object.entries(ENDS).flatMap(([state, end]): Case[] => [
      {
        ...reenter,
        state,
        arrange: heldThen(end),
        levels: 1,
      },
      {
        ...reenter,
        state: `held, ${state} meanwhile`,
        arrange: ({ lock }) => lock.lock(),
        meanwhile: end,
        levels: 1,
        unlike: NOTIFIED_NOW,
      },
    ]),
  ]
}

export function releasing(kind: FullKind | 'fair-lock'): Case[] {
  const release = { kind, script: `${kind}/release`, act: CALLS.release } as const
  return [
    {
      ...release,
      state: 'held once',
      arrange: ({ lock }) => lock.lock(),
      // One more than there is: it must be notified.
      levels: 1,
    },
    {
      ...release,
      state: 'held 3×',
      arrange: ({ lock }) => times(3, () => lock.lock()),
      levels: 2,
    },
    {
      ...release,
      state: 'held 2×, the outer level with a shorter lease',
      arrange: async ({ lock }) => {
        await lock.lock(20_000)
        await lock.lock(60_000)
      },
      levels: 1,
    },
    {
      ...release,
      state: 'held once, others wait',
      arrange: heldThen(othersWait),
      afterwards: (scene) => scene.letIn(true),
      levels: 0,
    },
    {
      ...release,
      state: 'held once, others of this client wait',
      arrange: heldThen((scene) => scene.othersWait(scene.ownRival)),
      afterwards: (scene) => scene.letIn(true),
      levels: 0,
    },
    {
      ...release,
      state: 'held once, the next is in before the copy',
      arrange: ({ lock }) => lock.lock(),
      meanwhile: ({ rival }) => rival.lock(another),
      levels: 0,
    },
    ...Object.entries(ENDS).flatMap(([state, end]): Case[] => [
      {
        ...release,
        state,
        arrange: heldThen(end),
        levels: 0,
        unlike: ECHO,
      },
      {
        ...release,
        state: `held 2×, ${state}`,
        arrange: async (scene) => {
          await times(2, () => scene.lock.lock())
          await end(scene)
        },
        levels: 1,
      },
      {
        ...release,
        state: `held 2×, ${state} meanwhile`,
        arrange: ({ lock }) => times(2, () => lock.lock()),
        meanwhile: end,
        levels: 1,
        unlike: NOTIFIED_NOW,
      },
    ]),
  ]
}

export function renewing(kind: Kind): Case[] {
  // A write hold is renewed as a plain lock's.
  const script = kind === 'read-lock' ? 'read-lock/renew' : 'lock/renew'
  const renew = { kind, script, lockWatchdogTimeout: 9_000, act: renewed } as const
  return [
    ...[1, 3].map(
      (levels): Case => ({
        ...renew,
        state: `held ${levels}×`,
        arrange: ({ lock }) => times(levels, () => lock.lock()),
        levels,
      }),
    ),
    {
      ...renew,
      state: 'held, others wait',
      arrange: heldThen(othersWait),
      levels: 1,
    },
    ...Object.entries(ENDS).flatMap(([state, end]): Case[] => [
      {
        ...renew,
        state,
        arrange: heldThen(end),
        act: (scene) => scene.reported(),
        levels: 1,
      },
      {
        ...renew,
        state: `held, ${state} meanwhile`,
        arrange: ({ lock }) => lock.lock(),
        meanwhile: end,
        levels: 1,
      },
    ]),
  ]
}
