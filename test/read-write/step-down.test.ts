import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { Redisson, RReadWriteLock } from '../../src/index'
import { createRedisson, rejection, timed, uniqueName } from '../kit/clients'
import { clientAndRedis, name, redis, redisson } from '../kit/each-test'
import { expectShape } from '../kit/read-write/sides'
import { expectNothingLeft, listeners, look, shape } from '../kit/read-write/state'
import { waitUntil } from '../kit/servers/index'

/** A writer that takes the read lock too, and gives the write lock back first. */
describe('Stepping down from writing to reading', () => {
  let other: Redisson
  let rw: RReadWriteLock
  let theirs: RReadWriteLock

  clientAndRedis('rw')
  beforeEach(async () => {
    other = await createRedisson()
    rw = redisson.getReadWriteLock(name)
    theirs = other.getReadWriteLock(name)
  })

  /** Returns when the acquisitions, which must wait, sleep. */
  async function asleep(acquiring: Promise<unknown>, connections = 1): Promise<void> {
    await waitUntil('the waiter listens', async () => (await listeners(redis, name)) === connections)
    // One round trip more: the try after the confirmed subscription.
    await Promise.all([redisson, other].map((each) => each.getLock(uniqueName()).isLocked()))
    expect(await Promise.race([acquiring, 'asleep'])).to.equal('asleep')
  }

  it('A writer that steps down to reading wakes waiting readers everywhere (A11)', async () => {
    await redisson.run(async () => {
      await rw.writeLock().lock()
      await rw.readLock().lock()
      const readers = [1, 2, 3].map((threadId) => theirs.readLock().lock({ threadId }))
      const local = [4, 5].map((threadId) => rw.readLock().lock({ threadId }))
      await asleep(Promise.all([...readers, ...local]), 2)
      const took = await timed(async () => {
        await rw.writeLock().unlock()
        await Promise.all([...readers, ...local])
      })
      expect(took).to.be.below(2_000)
      expect((await shape(redis, name)).readers).to.have.length(6)
      await rw.readLock().unlock()
    })
  })

  it('A writer that steps down keeps writers out until the last reader has gone', async () => {
    await redisson.run(async () => {
      await rw.writeLock().lock()
      await rw.readLock().lock()
      await rw.writeLock().unlock()
    })
    expect(await theirs.writeLock().tryLock(200)).to.equal(false)
  })

  it('A step-down leaves the key the lease of the read hold, not of the write hold (C7)', async () => {
    await redisson.run(async () => {
      await rw.writeLock().lock(60_000)
      await rw.readLock().lock(5_000)
      await rw.writeLock().unlock()
      expect((await look(redis, name)).ttl).to.be.within(4_000, 5_000)
    })
  })

  it('A write release by an owner whose read hold has expired frees the lock (C8)', async () => {
    await rw.writeLock().lock({ threadId: 1 })
    await rw.readLock().lock({ threadId: 1, leaseTime: 50 })
    const writer = theirs.writeLock().lock({ threadId: 2 })
    await asleep(writer)
    await waitUntil(
      'the read timeout key has run out',
      async () => (await shape(redis, name)).readTimeouts === 0,
    )
    const took = await timed(async () => {
      await rw.writeLock().unlock({ threadId: 1 })
      await writer
    })
    expect(took).to.be.below(2_000)
    await expectShape('write', [], [1], 0)
    await theirs.writeLock().unlock({ threadId: 2 })
    await expectNothingLeft(redis, name)
  })

  it('A writer that steps down is not held up by local readers that wait for it', async () => {
    await redisson.run(async () => {
      await rw.writeLock().lock()
      const reader = rw.readLock().lock({ threadId: 7 })
      await asleep(reader)
      expect(await rw.readLock().tryLock(), 'a single try').to.equal(true)
      await rw.readLock().lock()
      await rw.readLock().unlock()
      await rw.readLock().unlock()
      expect(await rw.readLock().tryLock(3_000), 'a try that may wait').to.equal(true)
      await rw.writeLock().unlock()
      await reader
      await rw.readLock().unlock()
      await rw.readLock().unlock({ threadId: 7 })
    })
    await expectNothingLeft(redis, name)
  }).timeout(8_000)

  it('Stepping down works through withLock, the inner hold being released first or last', async () => {
    await rw.writeLock().withLock(() =>
      rw.readLock().withLock(async () => {
        expect((await shape(redis, name)).mode).to.equal('write')
        expect(await rw.readLock().isHeldByCurrentThread()).to.equal(true)
        expect(await rw.writeLock().isHeldByCurrentThread()).to.equal(true)
      }),
    )
    await expectNothingLeft(redis, name)
    await redisson.run(async () => {
      const writing = await rw.writeLock().acquire()
      const reading = await rw.readLock().acquire()
      await writing.unlock()
      expect((await shape(redis, name)).mode).to.equal('read')
      expect(reading.isHeld).to.equal(true)
      await reading.unlock()
    })
    await expectNothingLeft(redis, name)
  })

  it('While a writer steps down only it may read, and other callers of the client wait', async () => {
    await redisson.run(async () => {
      await rw.writeLock().lock()
      expect(await redisson.run(() => rw.readLock().tryLock())).to.equal(false)
      expect(await rw.readLock().tryLock({ threadId: 3 })).to.equal(false)
      await rw.writeLock().unlock()
    })
    await rw.writeLock().lock({ threadId: 3 })
    expect(await rw.readLock().tryLock(), 'code without a caller is not the writer').to.equal(false)
    expect(await rw.readLock().tryLock({ threadId: 3 })).to.equal(true)
  })

  it('A former writer is not let in after its write hold has ended', async () => {
    await redisson.run(async () => {
      await rw.writeLock().lock()
      await theirs.writeLock().forceUnlock()
      await theirs.writeLock().lock({ threadId: 1 })
      expect(await rw.readLock().tryLock()).to.equal(false)
      expect((await rejection(rw.writeLock().unlock())).name).to.equal('LockLostError')
    })
  })

  it('After write, read and write release the read hold is still renewed (C9)', async () => {
    const brief = (await createRedisson({ lockWatchdogTimeout: 900 })).getReadWriteLock(name)
    await brief.writeLock().lock({ threadId: 1 })
    await brief.readLock().lock({ threadId: 1 })
    await brief.writeLock().unlock({ threadId: 1 })
    await sleep(1_500)
    const { readTimeouts, ttl } = await look(redis, name)
    expect(Object.values(readTimeouts)).to.have.length(1)
    expect(Math.min(ttl, ...Object.values(readTimeouts))).to.be.greaterThan(0)
    expect(await brief.readLock().getHoldCount(), 'of code without a caller').to.equal(0)
    expect(await brief.readLock().isHeldByThread(1)).to.equal(true)
    await brief.readLock().unlock({ threadId: 1 })
    await expectNothingLeft(redis, name)
  })

  it('The write hold and the read hold of a writer are both renewed while both are held', async () => {
    const brief = (await createRedisson({ lockWatchdogTimeout: 900 })).getReadWriteLock(name)
    await brief.writeLock().lock({ threadId: 1 })
    await brief.readLock().lock({ threadId: 1 })
    await sleep(1_500)
    await brief.readLock().unlock({ threadId: 1 })
    await sleep(1_000)
    await brief.writeLock().unlock({ threadId: 1 })
    await expectNothingLeft(redis, name)
  })
})

describe('Upgrading from reading to writing', () => {
  let rw: RReadWriteLock

  clientAndRedis('rw')
  beforeEach(() => {
    rw = redisson.getReadWriteLock(name)
  })

  it('Upgrading from reading to writing is refused where the reader would wait for itself', async () => {
    await redisson.run(async () => {
      await rw.readLock().lock()
      const attempts: [string, () => Promise<unknown>][] = [
        ['lock()', () => rw.writeLock().lock()],
        ['lock(lease)', () => rw.writeLock().lock(1_000)],
        ['tryLock(wait)', () => rw.writeLock().tryLock(60_000)],
        ['acquire()', () => rw.writeLock().acquire()],
        ['tryAcquire({ waitTime })', () => rw.writeLock().tryAcquire({ waitTime: 60_000 })],
        ['withLock()', () => rw.writeLock().withLock(() => {})],
      ]
      for (const [what, attempt] of attempts) {
        const error = await rejection(attempt())
        expect(error.name, what).to.equal('IllegalMonitorStateError')
        expect(error.message, what).to.contain(name).and.to.contain('read')
      }
      expect((await shape(redis, name)).readers).to.deep.equal([1])
      await rw.readLock().unlock()
      await rw.writeLock().lock()
      await rw.writeLock().unlock()
    })
    await expectNothingLeft(redis, name)
  })

  it('Upgrading from reading to writing is refused within withLock, and by explicit thread id', async () => {
    const error = await rejection(rw.readLock().withLock(() => rw.writeLock().withLock(() => {})))
    expect(error.name).to.equal('IllegalMonitorStateError')
    await rw.readLock().lock({ threadId: 5 })
    expect((await rejection(rw.writeLock().lock({ threadId: 5 }))).name).to.equal('IllegalMonitorStateError')
  })

  it('Upgrading from reading to writing by a single try just fails, and other callers just wait', async () => {
    await rw.readLock().lock({ threadId: 5 })
    expect(await rw.writeLock().tryLock({ threadId: 5 })).to.equal(false)
    expect(await rw.writeLock().tryAcquire({ threadId: 5 })).to.equal(undefined)
    expect(await rw.writeLock().tryLock({ threadId: 6, waitTime: 100 })).to.equal(false)
    await rw.readLock().unlock({ threadId: 5 })
    expect(await rw.writeLock().tryLock({ threadId: 6 })).to.equal(true)
  })

  it('A writer that also reads re-enters the write lock, which is no upgrade', async () => {
    await redisson.run(async () => {
      await rw.writeLock().lock()
      await rw.readLock().lock()
      await rw.writeLock().lock()
      expect(await rw.writeLock().getHoldCount()).to.equal(2)
      for (const lock of [rw.writeLock(), rw.writeLock(), rw.readLock()]) await lock.unlock()
    })
    await expectNothingLeft(redis, name)
  })

  it('Upgrading from reading to writing is possible again when the read lease has run out', async () => {
    await rw.readLock().lock({ threadId: 5, leaseTime: 60 })
    await waitUntil('the read hold ran out', async () => (await shape(redis, name)).readTimeouts === 0)
    expect(await rw.writeLock().tryLock({ threadId: 5, waitTime: 5_000 })).to.equal(true)
  })
})
