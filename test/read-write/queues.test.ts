import { expect } from 'chai'
import type { Redis } from 'ioredis'
import type { LockHold, Redisson, RReadWriteLock } from '../../src/index'
import { waitUntil } from '../servers'
import { closeAll, createRedisson, openRedis, uniqueName } from '../support/clients'
import { expectNothingLeft, ForeignSide, listeners, shape } from './looking'

/** Readers and writers of one process, and of several, that wait for each other. */
describe('read-write lock: readers and writers queued together', () => {
  let redisson: Redisson
  let redis: Redis
  let name: string
  let rw: RReadWriteLock
  let foreign: ForeignSide

  beforeEach(async () => {
    redisson = await createRedisson()
    redis = await openRedis()
    name = uniqueName('rw')
    rw = redisson.getReadWriteLock(name)
    foreign = new ForeignSide(redis, name)
  })
  afterEach(closeAll)

  const listening = (connections = 1) =>
    waitUntil('the waiters listen', async () => (await listeners(redis, name)) === connections)

  it('all queued readers enter when one may, without any of them leaving first', async () => {
    await foreign.write(1, 60_000)
    const other = await createRedisson()
    const queued = [
      ...Array.from({ length: 20 }, () => rw.readLock().acquire()),
      ...Array.from({ length: 20 }, () => other.getReadWriteLock(name).readLock().acquire()),
    ]
    await listening(2)
    await foreign.free('1')
    const holds = await Promise.all(queued)
    expect((await shape(redis, name)).readers).to.have.length(40)
    await Promise.all(holds.map((hold) => hold.unlock()))
    await expectNothingLeft(redis, name)
  })

  it('local writers are served first come, first served', async () => {
    await foreign.write(1, 60_000)
    const order: number[] = []
    const done = Array.from({ length: 10 }, (_, i) =>
      rw.writeLock().withLock(() => {
        order.push(i)
      }),
    )
    await listening()
    await foreign.free('1')
    await Promise.all(done)
    expect(order).to.deep.equal([...order.keys()])
    await expectNothingLeft(redis, name)
  })

  it('everybody gets in, readers together, writers alone', async () => {
    const other = (await createRedisson()).getReadWriteLock(name)
    let reading = 0
    let writing = 0
    let readTogether = 0
    const enter = async (side: 'read' | 'write') => {
      if (side === 'read') reading++
      else writing++
      expect(writing).to.be.at.most(reading > 0 ? 0 : 1)
      readTogether = Math.max(readTogether, reading)
      await new Promise((resolve) => setTimeout(resolve, 5))
      expect(writing).to.be.at.most(reading > 0 ? 0 : 1)
      if (side === 'read') reading--
      else writing--
    }
    await foreign.write(1, 60_000)
    const done = Array.from({ length: 60 }, (_, i) => {
      const lock = i % 2 ? rw : other
      return i % 5 < 3
        ? lock.readLock().withLock(() => enter('read'))
        : lock.writeLock().withLock(() => enter('write'))
    })
    await listening(2)
    await foreign.free('1')
    await Promise.all(done)
    expect(readTogether).to.be.greaterThan(1)
    await expectNothingLeft(redis, name)
  })

  it('a writer that waits in vain keeps no reader out', async () => {
    const reader = await rw.readLock().acquire()
    const writer = rw.writeLock().tryLock(400)
    await listening()
    const another = await rw.readLock().tryAcquire()
    expect(another).to.not.equal(undefined)
    expect(await writer).to.equal(false)
    await reader.unlock()
    await another!.unlock()
    await expectNothingLeft(redis, name)
  })

  it('the last reader lets one writer of each process try, and the next one after that', async () => {
    const other = (await createRedisson()).getReadWriteLock(name)
    const reader = await rw.readLock().acquire()
    const inside: LockHold[] = []
    const writers = [rw, rw, other, other].map(async (lock) => {
      const hold = await lock.writeLock().acquire()
      inside.push(hold)
      expect(inside).to.have.length(1)
      await new Promise((resolve) => setTimeout(resolve, 5))
      inside.pop()
      await hold.unlock()
    })
    await listening(2)
    await reader.unlock()
    await Promise.all(writers)
    await expectNothingLeft(redis, name)
  })

  it('a writer that leaves lets readers and writers of its own process in', async () => {
    const writer = await rw.writeLock().acquire()
    const readers = [rw.readLock().acquire(), rw.readLock().acquire()]
    const next = rw.writeLock().acquire()
    await listening()
    await writer.unlock()
    const first = await Promise.race([next, ...readers])
    await first.unlock()
    for (const acquiring of [...readers, next]) {
      const hold = await acquiring
      if (hold !== first) await hold.unlock()
    }
    await expectNothingLeft(redis, name)
  })
})
