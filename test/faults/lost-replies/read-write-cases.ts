import type { Case } from './matrix'
import { another, CALLS, gone, renewed, rows, times } from './steps'

const third = { threadId: 2 }

/** States of the read side that a plain lock does not know: other readers, and a writer who reads as well. */
export const reading: readonly Case[] = [
  read('acquire')('read by others', { levels: 1 }, async ({ theirRead }) => {
    await theirRead.lock(another)
    await theirRead.lock(third)
  }),
  read('acquire')(
    'read by another with a longer lease',
    { act: ({ lock }) => lock.lock(20_000), levels: 1 },
    ({ theirRead }) => theirRead.lock({ ...another, leaseTime: 90_000 }),
  ),
  read('acquire')('read by us as another thread', { levels: 1 }, ({ lock }) => lock.lock({ threadId: 7 })),
  read('acquire')('written by ourselves', { levels: 1 }, ({ write: writing }) => writing.lock()),
  read('reenter')(
    'held 2×, read by another',
    { act: ({ lock }) => lock.lock(20_000), levels: 3 },
    async ({ lock, theirRead }) => {
      await times(2, () => lock.lock())
      await theirRead.lock({ ...another, leaseTime: 90_000 })
    },
  ),
  read('reenter')('held, and written by ourselves 2×', { levels: 2 }, async ({ write, lock }) => {
    await times(2, () => write.lock())
    await lock.lock()
  }),
  read('release')('held once, read by another', { levels: 1 }, async ({ lock, theirRead }) => {
    await lock.lock(60_000)
    await theirRead.lock({ ...another, leaseTime: 20_000 })
  }),
  read('release')(
    'held 3×, read by another, a writer waits',
    { afterwards: ({ theirRead }) => theirRead.unlock(another), levels: 2 },
    async (scene) => {
      await times(3, () => scene.lock.lock(60_000))
      await scene.theirRead.lock({ ...another, leaseTime: 20_000 })
      await scene.othersWait()
    },
  ),
  read('release')('held once, beside a dead reader', {}, async ({ lock, theirRead, setting, name }) => {
    await lock.lock(20_000)
    await theirRead.lock({ ...another, leaseTime: 10_000 })
    const readTimeouts = await setting.admin.keys(`{${name}}:${setting.peer.getId()}:*`)
    await setting.admin.del(...readTimeouts)
  }),
  read('release')('held once, and written by ourselves', { levels: 1 }, async ({ write, lock }) => {
    await write.lock()
    await lock.lock(20_000)
  }),
  read('release')(
    'held once, read by another only before the copy',
    { meanwhile: ({ theirRead }) => theirRead.lock(another) },
    ({ lock }) => lock.lock(),
  ),
  read('renew')(
    'held 2×, read by another with a longer lease',
    { lockWatchdogTimeout: 9_000, levels: 2 },
    async ({ lock, theirRead }) => {
      await times(2, () => lock.lock())
      await theirRead.lock({ ...another, leaseTime: 60_000 })
    },
  ),
  read('force-release')('read by us and by others', { levels: 2 }, async ({ lock, theirRead }) => {
    await times(2, () => lock.lock())
    await theirRead.lock(another)
    await theirRead.lock(third)
  }),
  read('force-release')(
    'read by another, a new reader before the copy',
    { meanwhile: ({ theirRead }) => theirRead.lock(third) },
    ({ theirRead }) => theirRead.lock(another),
  ),
  read('force-release')('read by another, who writes as well', {}, async ({ theirRead, theirWrite }) => {
    await theirWrite.lock(another)
    await theirRead.lock(another)
  }),
]

/** States of the write side that a plain lock does not know: readers, among them the writer. */
export const writing: readonly Case[] = [
  write('acquire')(
    'read by others, who leave then',
    {
      afterwards: async ({ theirRead }) => {
        await theirRead.unlock(another)
        await theirRead.unlock(third)
      },
      levels: 1,
    },
    async ({ theirRead }) => {
      await theirRead.lock(another)
      await theirRead.lock(third)
    },
  ),
  write('acquire')(
    'read by another thread of this client, tried for a while',
    { act: ({ lock }) => lock.tryLock(5_000) },
    ({ read: reading }) => reading.lock({ threadId: 7 }),
  ),
  write('reenter')('held 2×, and read by ourselves', { levels: 3 }, async ({ lock, read: reading }) => {
    await times(2, () => lock.lock())
    await reading.lock()
  }),
  write('release')(
    'held 2×, and read by ourselves for longer',
    { levels: 1 },
    async ({ lock, read: reading }) => {
      await times(2, () => lock.lock(20_000))
      await reading.lock(60_000)
    },
  ),
  write('release')(
    'held once, and read by ourselves, readers wait',
    { afterwards: (scene) => scene.letIn(true) },
    async (scene) => {
      await scene.lock.lock()
      await scene.read.lock()
      await scene.othersWait(scene.theirRead)
    },
  ),
  write('release')(
    'held once, and read by ourselves, another reads before the copy',
    { meanwhile: ({ theirRead }) => theirRead.lock(another) },
    async ({ lock, read: reading }) => {
      await lock.lock()
      await reading.lock()
    },
  ),
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
  write('force-release')(
    'held by us, and read by ourselves 2×',
    { levels: 1 },
    async ({ lock, read: reading }) => {
      await lock.lock()
      await times(2, () => reading.lock())
    },
  ),
  write('force-release')(
    'held by another, readers are in before the copy',
    {
      meanwhile: async (scene) => {
        await scene.theirRead.lock(another)
        await scene.theirRead.lock(third)
      },
    },
    ({ theirWrite }) => theirWrite.lock(another),
  ),
  write('inspect')('read by ourselves', { afterwards: gone }, ({ read: reading }) => reading.lock()),
]

function read<T extends keyof typeof CALLS>(script: T) {
  return rows({ kind: 'read-lock', script: `read-lock/${script}`, act: CALLS[script] })
}

function write<T extends Exclude<keyof typeof CALLS, 'renew'>>(script: T) {
  return rows({ kind: 'write-lock', script: `write-lock/${script}`, act: CALLS[script] })
}
