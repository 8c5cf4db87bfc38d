import { expect } from 'chai'
import type { LockHold, RReadWriteLock } from '../../src/index'
import { createRedisson } from '../kit/clients'
import { clientAndRedis, name, redis, redisson } from '../kit/each-test'
import { expectNothingLeft, ForeignSide, listeners, shape } from '../kit/read-write/state'
import { waitUntil } from '../kit/servers/index'

/** Readers and writers of one process, and of several, that wait for each other. */
describe('Readers and writers that are queued together', () => {
  let rw: RReadWriteLock
  let foreign: ForeignSide

  clientAndRedis('rw')
  beforeEach(() => {
    rw = redisson.getReadWriteLock(name)
    foreign = new ForeignSide(redis, name)
  })

  const listening = (connections = 1) =>
    waitUntil('the waiters listen', async () => (await listeners(redis, name)) === connections)

  for (const side of ['read', 'write'] as const)
    it(`A waiter of either side that leaves does not silence those of the ${side} side (A3)`, async () => {
      await foreign.write(1, 60_000)
      const staying = (side === 'read' ? rw.readLock() : rw.writeLock()).lock({ threadId: 1 })
      await listening()
      expect(await rw.readLock().tryLock({ threadId: 2, waitTime: 50 })).to.equal(false)
      expect(await rw.writeLock().tryLock({ threadId: 3, waitTime: 50 })).to.equal(false)
      const released = performance.now()
      await foreign.free(side === 'read' ? '1' : '0')
      await staying
      expect(performance.now() - released).to.be.below(4_000)
    })

  it('All queued readers enter when one may, without one of them leaving first (guarantee 3)', async () => {
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

  it('Local writers are served first come, first served (guarantee 3)', async () => {
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

  it('All queued callers enter, readers together and writers alone', async () => {
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

  it('A writer whose wait ends without a grant keeps no reader out', async () => {
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

  it('The last reader lets one writer of each process try, and the next one after that', async () => {
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

  it('A writer that leaves lets readers and writers of its own process in', async () => {
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
