import { expect } from 'chai'
import type { RLock } from '../../src/index'
import { createRedisson, rejection, timed, uniqueName } from '../kit/clients'
import { clientAndRedis, name, redisson } from '../kit/each-test'
import { inCluster } from './in-cluster'
import { countsUpAndDown } from './rlock-tests'

/**
 * Redisson's own tests of RReadWriteLock, asked of ours: one here for each there, by its name. Java's threads
 * are `redisson.run` scopes. Those that wait for leases are in redisson-read-write-lock-leases.test.ts, those of
 * many clients in redisson-read-write-lock-concurrency.test.ts.
 */
describe("Redisson's tests of a read-write lock", () => {
  clientAndRedis()

  it('RedissonReadWriteLockTest.testReadLockIsLocked: locked once its writer reads', async () => {
    const both = redisson.getReadWriteLock(uniqueName('TEST'))
    await redisson.run(async () => {
      await both.writeLock().lock()
      expect(await both.readLock().isLocked()).to.equal(false)
      expect(await both.readLock().tryLock(10_000)).to.equal(true)
      expect(await both.readLock().isLocked()).to.equal(true)
      await both.writeLock().forceUnlock()
    })
  })

  it('RedissonReadWriteLockTest.testName: ten threads read under a hash tag', async () => {
    const lock = redisson.getReadWriteLock(`{${uniqueName()}}:abc:key`).readLock()
    const thread = () =>
      redisson.run(async () => {
        for (let i = 0; i < 10; i++) {
          await lock.lock()
          await lock.unlock()
        }
      })
    await Promise.all(Array.from({ length: 10 }, thread))
    expect(await lock.isLocked()).to.equal(false)
  })

  it('RedissonReadWriteLockTest.testInCluster: written, read, and free again', async () => {
    const redisson = await inCluster()
    await redisson.run(async () => {
      const both = redisson.getReadWriteLock(uniqueName('1234'))
      await both.writeLock().lock()
      await both.readLock().lock()
      await both.readLock().unlock()
      await both.writeLock().unlock()
      expect(await both.readLock().isLocked()).to.equal(false)
      expect(await both.writeLock().remainTimeToLive()).to.equal(-2)
    })
  })

  it('RedissonReadWriteLockTest.testWR: a writer that has read still writes', async () => {
    const both = redisson.getReadWriteLock(uniqueName())
    await redisson.run(async () => {
      await both.writeLock().lock()
      await both.readLock().lock()
      expect(await both.writeLock().isLocked()).to.equal(true)
      await both.readLock().unlock()
      expect(await both.writeLock().isLocked()).to.equal(true)
      await both.writeLock().unlock()
      expect(await both.writeLock().isLocked()).to.equal(false)
    })
  })

  it('RedissonReadWriteLockTest.testWriteReadReentrancy: a writer reads, and steps down', async () => {
    const both = redisson.getReadWriteLock(uniqueName('TEST'))
    await redisson.run(async () => {
      await both.writeLock().lock()
      expect(await both.readLock().tryLock()).to.equal(true)
      expect(await redisson.run(() => both.readLock().tryLock())).to.equal(false)
      await both.writeLock().unlock()
      expect(await both.writeLock().tryLock()).to.equal(false)
      await both.readLock().unlock()
      expect(await both.writeLock().tryLock()).to.equal(true)
      await both.writeLock().unlock()
    })
  })

  it('RedissonReadWriteLockTest.testWriteLock: keeps readers out until it steps down', async () => {
    const both = redisson.getReadWriteLock(name)
    const [read, write] = [both.readLock(), both.writeLock()]
    const otherObject = () => redisson.getReadWriteLock(name).readLock()
    await redisson.run(async () => {
      await write.lock()
      expect(await both.writeLock().tryLock()).to.equal(true)
      await redisson.run(async () => {
        expect(await write.isHeldByCurrentThread()).to.equal(false)
        expect(await write.isLocked()).to.equal(true)
        expect(await read.tryLock()).to.equal(false)
        expect(await otherObject().tryLock()).to.equal(false)
      })
      await write.unlock()
      expect(await read.tryLock()).to.equal(true)
      expect(await write.isHeldByCurrentThread()).to.equal(true)
      await write.unlock()
      await redisson.run(async () => {
        expect(await read.tryLock()).to.equal(true)
        expect(await otherObject().tryLock()).to.equal(true)
      })
      expect(await write.tryLock()).to.equal(false)
      expect(await write.isLocked()).to.equal(false)
      expect(await write.isHeldByCurrentThread()).to.equal(false)
      await read.forceUnlock()
    })
  })

  it('RedissonReadWriteLockTest.testMultiRead: writers wait for the last of the readers', async () => {
    const both = redisson.getReadWriteLock(uniqueName('lock'))
    const [read, write] = [both.readLock(), both.writeLock()]
    expect(await read.forceUnlock()).to.equal(false)
    const threads = [{ threadId: 1 }, { threadId: 2 }] as const
    await read.lock(threads[0])
    expect(await write.tryLock({ threadId: 3 })).to.equal(false)
    expect(await read.isHeldByThread(2)).to.equal(false)
    expect(await read.isLocked()).to.equal(true)
    await read.lock(threads[1])
    await read.unlock(threads[0])
    expect(await write.tryLock({ threadId: 3 })).to.equal(false)
    expect(await read.isHeldByThread(1)).to.equal(false)
    await read.unlock(threads[1])
    expect(await read.isLocked()).to.equal(false)

    await redisson.run(async () => {
      for (const release of [() => write.unlock(), () => write.forceUnlock()]) {
        expect(await write.tryLock()).to.equal(true)
        expect(await write.isLocked()).to.equal(true)
        expect(await write.isHeldByCurrentThread()).to.equal(true)
        await release()
        expect(await write.isLocked()).to.equal(false)
        expect(await write.isHeldByCurrentThread()).to.equal(false)
      }
    })
  })

  it('RedissonReadWriteLockTest.testForceUnlock: frees its own side only', async () => {
    const both = redisson.getReadWriteLock(uniqueName('lock'))
    await redisson.run(async () => {
      for (const [held, other] of [
        [both.readLock(), both.writeLock()],
        [both.writeLock(), both.readLock()],
      ] as const) {
        await held.lock()
        expect(await held.isLocked()).to.equal(true)
        await other.forceUnlock()
        expect(await held.isLocked()).to.equal(true)
        await held.forceUnlock()
        expect(await held.isLocked()).to.equal(false)
      }
    })
  })

  it('RedissonReadWriteLockTest.testHoldCount: counts up and down on either side', async () => {
    const both = redisson.getReadWriteLock(uniqueName('lock'))
    await redisson.run(async () => {
      await countsUpAndDown(both.readLock())
      await countsUpAndDown(both.writeLock())
    })
  })

  it('RedissonReadWriteLockTest.testIsHeldByCurrentThreadOtherThread: one reads, one not', async () => {
    await aroundAReadHold(async (lock, other) => {
      expect(await other(() => lock.isHeldByCurrentThread())).to.equal(false)
    })
  })

  it('RedissonReadWriteLockTest.testIsHeldByCurrentThread: only between lock() and unlock()', async () => {
    await aroundAReadHold(async (lock, _, held) => {
      expect(await lock.isHeldByCurrentThread()).to.equal(held)
    })
  })

  it('RedissonReadWriteLockTest.testIsLockedOtherThread: read is read for every caller', async () => {
    await aroundAReadHold(async (lock, other, held) => {
      expect(await other(() => lock.isLocked())).to.equal(held)
    })
  })

  it('RedissonReadWriteLockTest.testIsLocked: only between lock() and unlock()', async () => {
    await aroundAReadHold(async (lock, _, held) => {
      expect(await lock.isLocked()).to.equal(held)
    })
  })

  it("RedissonReadWriteLockTest.testUnlockFail: another thread's read hold stays", async () => {
    const lock = redisson.getReadWriteLock(uniqueName('lock')).readLock()
    await redisson.run(() => lock.lock())
    const error = await redisson.run(() => rejection(lock.unlock()))
    expect(error).to.have.property('code', 'ILLEGAL_MONITOR_STATE')
    expect(await lock.forceUnlock()).to.equal(true)
  })

  it('RedissonReadWriteLockTest.testLockUnlock: the read side can be taken again and again', async () => {
    const lock = redisson.getReadWriteLock(uniqueName('lock')).readLock()
    await redisson.run(async () => {
      for (let i = 0; i < 2; i++) {
        await lock.lock()
        await lock.unlock()
        expect(await lock.isLocked()).to.equal(false)
      }
    })
  })

  it('RedissonReadWriteLockTest.testReentrancy: read and released twice, another meanwhile', async () => {
    const [name, another] = [uniqueName('lock'), uniqueName('lock1')]
    await redisson.run(async () => {
      const lock = redisson.getReadWriteLock(name).readLock()
      expect(await lock.tryLock()).to.equal(true)
      expect(await lock.tryLock()).to.equal(true)
      await lock.unlock()
      const read = redisson.getReadWriteLock(another).readLock()
      expect(await redisson.run(() => read.tryLock())).to.equal(true)
      expect(await lock.isLocked()).to.equal(true)
      await lock.unlock()
      expect(await lock.isLocked()).to.equal(false)
      await read.forceUnlock()
    })
  })

  it('RedissonReadWriteLockTest.testWriteRead: waiting readers read at the same time', async () => {
    const both = redisson.getReadWriteLock(uniqueName('TEST'))
    await both.writeLock().lock({ threadId: 1 })
    let inside = 0
    let most = 0
    const readers = Array.from({ length: 20 }, () =>
      both.readLock().withLock(async () => {
        most = Math.max(most, ++inside)
        await new Promise((resolve) => setTimeout(resolve, 1_000))
        inside--
      }),
    )
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(most).to.equal(0)
    const took = await timed(() => Promise.all([both.writeLock().unlock({ threadId: 1 }), ...readers]))
    // One after the other they take 20 s.
    expect(took).to.be.below(10_000)
    expect(most).to.equal(20)
  })
})

/** Looks three times: before a thread takes the read lock, while it has it, and after. */
async function aroundAReadHold(
  look: (lock: RLock, other: <T>(fn: () => Promise<T>) => Promise<T>, held: boolean) => Promise<unknown>,
): Promise<void> {
  const redisson = await createRedisson()
  await redisson.run(async () => {
    const lock = redisson.getReadWriteLock(uniqueName('lock')).readLock()
    const other = <T>(fn: () => Promise<T>) => redisson.run(fn) as Promise<T>
    await look(lock, other, false)
    await lock.lock()
    await look(lock, other, true)
    await lock.unlock()
    await look(lock, other, false)
  })
}
