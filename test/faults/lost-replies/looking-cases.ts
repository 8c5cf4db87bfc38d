import type { Case } from './matrix'
import type { FullKind } from './scene'
import { another, CALLS, gone, heldThen, rows, takenOver, times } from './steps'

export function inspecting(kind: FullKind): Case[] {
  const inspect = rows({ kind, script: `${kind}/inspect`, act: CALLS.inspect, levels: 0 })
  return [
    inspect('free'),
    inspect('free, its time to live', { act: ({ lock }) => lock.remainTimeToLive() }),
    inspect('free, forced', { act: ({ lock }) => lock.forceUnlock() }),
    inspect('held 3×', { act: ({ lock }) => lock.getHoldCount(), levels: 3 }, ({ lock }) =>
      times(3, () => lock.lock()),
    ),
    inspect('held by another', {}, ({ theirs }) => theirs.lock(another)),
    inspect('held, gone by force', { act: ({ lock }) => lock.getHoldCount(), levels: 1 }, heldThen(gone)),
    inspect(
      'held, taken over by another meanwhile',
      {
        act: ({ lock }) => lock.isHeldByCurrentThread(),
        meanwhile: takenOver,
        levels: 1,
        unlike: { why: 'it answers for the moment of the copy', outcome: { answer: { value: false } } },
      },
      ({ lock }) => lock.lock(),
    ),
  ]
}

export function forcing(kind: FullKind | 'fair-lock'): Case[] {
  const force = rows({
    kind,
    script: `${kind}/force-release`,
    act: CALLS['force-release'],
    levels: 0,
  })
  return [
    force('held by us 2×', { levels: 2 }, ({ lock }) => times(2, () => lock.lock())),
    force('held by another', {}, ({ theirs }) => theirs.lock(another)),
    force('held by another, others wait', { afterwards: (scene) => scene.letIn(true) }, async (scene) => {
      await scene.theirs.lock(another)
      await scene.othersWait()
    }),
    force(
      'held by another, others of this client wait',
      { afterwards: (scene) => scene.letIn(true) },
      async (scene) => {
        await scene.theirs.lock(another)
        await scene.othersWait(scene.ownRival)
      },
    ),
    force(
      'held by another, the next is in before the copy',
      { meanwhile: ({ theirs }) => theirs.lock({ threadId: 2 }) },
      ({ theirs }) => theirs.lock(another),
    ),
  ]
}
