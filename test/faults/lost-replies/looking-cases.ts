import type { Case } from './matrix'
import type { FullKind } from './scene'
import { another, CALLS, gone, heldThen, takenOver, times } from './steps'

export function inspecting(kind: FullKind): Case[] {
  const inspect = { kind, script: `${kind}/inspect`, act: CALLS.inspect, levels: 0 } as const
  return [
    { ...inspect, state: 'free' },
    { ...inspect, state: 'free, its time to live', act: ({ lock }) => lock.remainTimeToLive() },
    { ...inspect, state: 'free, forced', act: ({ lock }) => lock.forceUnlock() },
    {
      ...inspect,
      state: 'held 3×',
      arrange: ({ lock }) => times(3, () => lock.lock()),
      act: ({ lock }) => lock.getHoldCount(),
      levels: 3,
    },
    {
      ...inspect,
      state: 'held by another',
      arrange: ({ theirs }) => theirs.lock(another),
    },
    {
      ...inspect,
      state: 'held, gone by force',
      arrange: heldThen(gone),
      act: ({ lock }) => lock.getHoldCount(),
      levels: 1,
    },
    {
      ...inspect,
      state: 'held, taken over by another meanwhile',
      arrange: ({ lock }) => lock.lock(),
      act: ({ lock }) => lock.isHeldByCurrentThread(),
      meanwhile: takenOver,
      levels: 1,
      unlike: { why: 'it answers for the moment of the copy', outcome: { answer: { value: false } } },
    },
  ]
}

export function forcing(kind: FullKind | 'fair-lock'): Case[] {
  const force = {
    kind,
    script: `${kind}/force-release`,
    act: CALLS['force-release'],
    levels: 0,
  } satisfies Partial<Case>
  return [
    {
      ...force,
      state: 'held by us 2×',
      arrange: ({ lock }) => times(2, () => lock.lock()),
      levels: 2,
    },
    { ...force, state: 'held by another', arrange: ({ theirs }) => theirs.lock(another) },
    {
      ...force,
      state: 'held by another, others wait',
      arrange: async (scene) => {
        await scene.theirs.lock(another)
        await scene.othersWait()
      },
      afterwards: (scene) => scene.letIn(true),
    },
    {
      ...force,
      state: 'held by another, others of this client wait',
      arrange: async (scene) => {
        await scene.theirs.lock(another)
        await scene.othersWait(scene.ownRival)
      },
      afterwards: (scene) => scene.letIn(true),
    },
    {
      ...force,
      state: 'held by another, the next is in before the copy',
      arrange: ({ theirs }) => theirs.lock(another),
      meanwhile: ({ theirs }) => theirs.lock({ threadId: 2 }),
    },
  ]
}
