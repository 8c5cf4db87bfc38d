import { setTimeout as sleep } from 'node:timers/promises'
import { prefixed } from '../../../src/scripts/key-names'
import { waitUntil } from '../../kit/servers/index'
import type { Case } from './matrix'
import type { Scene } from './scene'
import { another } from './steps'

const queued = ({ setting, name }: Scene) => setting.admin.llen(prefixed('redisson_lock_queue', name))

/** Leaving the queue of a fair lock, and refreshing the places in it. */
export const fairPlaces: Case[] = [
  {
    kind: 'fair-lock',
    script: 'fair-lock/refresh',
    state: 'held by another, waiting',
    arrange: ({ theirs }) => theirs.lock(another),
    act: ({ lock }) => lock.lock(),
    waitsForIt: true,
    meanwhile: () => sleep(500),
    afterwards: ({ theirs }) => theirs.unlock(another),
    levels: 1,
  },
  {
    kind: 'fair-lock',
    script: 'fair-lock/leave',
    state: 'held by another, alone in the queue',
    arrange: ({ theirs }) => theirs.lock(another),
    act: async (scene) => {
      const result = await scene.lock.tryLock(100)
      await waitUntil('it has left', async () => (await queued(scene)) === 0)
      return result
    },
    levels: 0,
  },
  {
    kind: 'fair-lock',
    script: 'fair-lock/leave',
    state: 'held by another, others wait behind',
    arrange: async (scene) => {
      await scene.theirs.lock(another)
      await scene.othersWait()
    },
    act: async (scene) => {
      const result = await scene.lock.tryLock(100)
      await waitUntil('it has left', async () => (await queued(scene)) === 2)
      await scene.theirs.unlock(another)
      await scene.letIn(true)
      return result
    },
    levels: 0,
  },
]
