import type { Case } from './matrix'
import { another, CALLS, gone, renewed, times } from './steps'

const third = { threadId: 2 }

/** States of the read side that a plain lock does not know: other readers, and a writer who reads as well. */
export const reading: readonly Case[] = [
  {
    ...read('acquire'),
    state: 'read by others',
    arrange: async ({ theirRead }) => {
      await theirRead.lock(another)
      await theirRead.lock(third)
    },
    levels: 1,
  },
  {
    ...read('acquire'),
    state: 'read by another with a longer lease',
    arrange: ({ theirRead }) => theirRead.lock({ ...another, leaseTime: 90_000 }),
    act: ({ lock }) => lock.lock(20_000),
    levels: 1,
  },
  {
    ...read('acquire'),
    state: 'read by us as another thread',
    arrange: ({ lock }) => lock.lock({ threadId: 7 }),
    levels: 1,
  },
  {
    ...read('acquire'),
    state: 'written by ourselves',
    arrange: ({ write: writing }) => writing.lock(),
    levels: 1,
  },
  {
    ...read('reenter'),
    state: 'held 2×, read by another',
    arrange: async ({ lock, theirRead }) => {
      await times(2, () => lock.lock())
      await theirRead.lock({ ...another, leaseTime: 90_000 })
    },
    act: ({ lock }) => lock.lock(20_000),
    levels: 3,
  },
  {
    ...read('reenter'),
    state: 'held, and written by ourselves 2×',
    arrange: async ({ write, lock }) => {
      await times(2, () => write.lock())
      await lock.lock()
    },
    levels: 2,
  },
  {
    ...read('release'),
    state: 'held once, read by another',
    arrange: async ({ lock, theirRead }) => {
      await lock.lock(60_000)
      await theirRead.lock({ ...another, leaseTime: 20_000 })
    },
    levels: 1,
  },
  {
    ...read('release'),
    state: 'held 3×, read by another, a writer waits',
    arrange: async (scene) => {
      await times(3, () => scene.lock.lock(60_000))
      await scene.theirRead.lock({ ...another, leaseTime: 20_000 })
      await scene.othersWait()
    },
    afterwards: ({ theirRead }) => theirRead.unlock(another),
    levels: 2,
  },
  {
    ...read('release'),
    state: 'held once, beside a dead reader',
    arrange: async ({ lock, theirRead, setting, name }) => {
      await lock.lock(20_000)
      await theirRead.lock({ ...another, leaseTime: 10_000 })
      const readTimeouts = await setting.admin.keys(`{${name}}:${setting.peer.getId()}:*`)
      await setting.admin.del(...readTimeouts)
    },
    levels: 0,
  },
  {
    ...read('release'),
    state: 'held once, and written by ourselves',
    arrange: async ({ write, lock }) => {
      await write.lock()
      await lock.lock(20_000)
    },
    levels: 1,
  },
  {
    ...read('release'),
    state: 'held once, read by another only before the copy',
    arrange: ({ lock }) => lock.lock(),
    meanwhile: ({ theirRead }) => theirRead.lock(another),
    levels: 0,
  },
  {
    ...read('renew'),
    state: 'held 2×, read by another with a longer lease',
    lockWatchdogTimeout: 9_000,
    arrange: async ({ lock, theirRead }) => {
      await times(2, () => lock.lock())
      await theirRead.lock({ ...another, leaseTime: 60_000 })
    },
    levels: 2,
  },
  {
    ...read('force-release'),
    state: 'read by us and by others',
    arrange: async ({ lock, theirRead }) => {
      await times(2, () => lock.lock())
      await theirRead.lock(another)
      await theirRead.lock(third)
    },
    levels: 2,
  },
  {
    ...read('force-release'),
    state: 'read by another, a new reader before the copy',
    arrange: ({ theirRead }) => theirRead.lock(another),
    meanwhile: ({ theirRead }) => theirRead.lock(third),
    levels: 0,
  },
  {
    ...read('force-release'),
    state: 'read by another, who writes as well',
    arrange: async ({ theirRead, theirWrite }) => {
      await theirWrite.lock(another)
      await theirRead.lock(another)
    },
    levels: 0,
  },
]

/** States of the write side that a plain lock does not know: readers, among them the writer. */
export const writing: readonly Case[] = [
  {
    ...write('acquire'),
    state: 'read by others, who leave then',
    arrange: async ({ theirRead }) => {
      await theirRead.lock(another)
      await theirRead.lock(third)
    },
    afterwards: async ({ theirRead }) => {
      await theirRead.unlock(another)
      await theirRead.unlock(third)
    },
    levels: 1,
  },
  {
    ...write('acquire'),
    state: 'read by another thread of this client, tried for a while',
    arrange: ({ read: reading }) => reading.lock({ threadId: 7 }),
    act: ({ lock }) => lock.tryLock(5_000),
    levels: 0,
  },
  {
    ...write('reenter'),
    state: 'held 2×, and read by ourselves',
    arrange: async ({ lock, read: reading }) => {
      await times(2, () => lock.lock())
      await reading.lock()
    },
    levels: 3,
  },
  {
    ...write('release'),
    state: 'held 2×, and read by ourselves for longer',
    arrange: async ({ lock, read: reading }) => {
      await times(2, () => lock.lock(20_000))
      await reading.lock(60_000)
    },
    levels: 1,
  },
  {
    ...write('release'),
    state: 'held once, and read by ourselves, readers wait',
    arrange: async (scene) => {
      await scene.lock.lock()
      await scene.read.lock()
      await scene.othersWait(scene.theirRead)
    },
    afterwards: (scene) => scene.letIn(true),
    levels: 0,
  },
  {
    ...write('release'),
    state: 'held once, and read by ourselves, another reads before the copy',
    arrange: async ({ lock, read: reading }) => {
      await lock.lock()
      await reading.lock()
    },
    meanwhile: ({ theirRead }) => theirRead.lock(another),
    levels: 0,
  },
  {
    kind: 'write-lock',
    script: 'read-lock/renew',
    state: 'written and read by ourselves',
    lockWatchdogTimeout: 9_000,
    arrange: async ({ lock, read: reading }) => {
      await lock.lock()
      await reading.lock()
    },
    act: renewed,
    levels: 1,
  },
  {
    ...write('force-release'),
    state: 'held by us, and read by ourselves 2×',
    arrange: async ({ lock, read: reading }) => {
      await lock.lock()
      await times(2, () => reading.lock())
    },
    levels: 1,
  },
  {
    ...write('force-release'),
    state: 'held by another, readers are in before the copy',
    arrange: ({ theirWrite }) => theirWrite.lock(another),
    meanwhile: async (scene) => {
      await scene.theirRead.lock(another)
      await scene.theirRead.lock(third)
    },
    levels: 0,
  },
  {
    ...write('inspect'),
    state: 'read by ourselves',
    arrange: ({ read: reading }) => reading.lock(),
    afterwards: gone,
    levels: 0,
  },
]

function read<T extends keyof typeof CALLS>(script: T) {
  return { kind: 'read-lock', script: `read-lock/${script}`, act: CALLS[script] } as const
}

function write<T extends keyof typeof CALLS>(script: T) {
  return { kind: 'write-lock', script: `write-lock/${script}`, act: CALLS[script] } as const
}
