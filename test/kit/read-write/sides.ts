import { expect } from 'chai'
import type { RReadWriteLock } from '../../../src/index'
import { openRedis } from '../clients'
import { clientAndRedis, name, redis, redisson } from '../each-test'
import { messagesOf, shape } from './state'

/** The read-write lock of the test that runs now. */
export let rw: RReadWriteLock
let messages: string[]

/** For a `describe`. */
export function readWriteLock(): void {
  clientAndRedis('rw')
  beforeEach(async () => {
    rw = redisson.getReadWriteLock(name)
    messages = await messagesOf(await openRedis(), name)
  })
}

export const read = (threadId: number, leaseTime?: number) => rw.readLock().tryLock({ threadId, leaseTime })
export const write = (threadId: number, leaseTime?: number) => rw.writeLock().tryLock({ threadId, leaseTime })
export const unread = (threadId: number) => rw.readLock().unlock({ threadId })
export const unwrite = (threadId: number) => rw.writeLock().unlock({ threadId })

/** The messages since the last look. They are ordered with our own commands on the server, but arrive by another connection. */
export async function reported(): Promise<string[]> {
  await redis.publish(`redisson_rwlock:{${name}}`, 'end')
  while (!messages.includes('end')) await new Promise((resolve) => setImmediate(resolve))
  return messages.splice(0).filter((each) => each !== 'end')
}

/** Counts are those of each owner; the key has the name of the test. */
export async function expectShape(
  mode: 'read' | 'write',
  readers: readonly number[],
  writers: readonly number[],
  readTimeouts: number,
): Promise<void> {
  expect(await shape(redis, name)).to.deep.equal({ mode, readers, writers, readTimeouts })
}
