import { expect } from 'chai'
import { createRedisson, rejection } from '../kit/clients'
import { name, redis, redisson } from '../kit/each-test'
import {
  expectShape,
  read,
  readWriteLock,
  reported,
  rw,
  unread,
  unwrite,
  write,
} from '../kit/read-write/sides'
import { expectNothingLeft, ForeignSide, shape } from '../kit/read-write/state'
import { latch, tapped } from '../kit/tapped-transport'

/** Frees a side, whatever client holds it, and leaves nothing of it behind. */
describe('Forced release of a read-write lock', () => {
  readWriteLock()

  it('A forced release of a free or other side answers false and changes nothing', async () => {
    expect(await rw.readLock().forceUnlock()).to.equal(false)
    expect(await rw.writeLock().forceUnlock()).to.equal(false)
    await read(1)
    expect(await rw.writeLock().forceUnlock()).to.equal(false)
    expect((await shape(redis, name)).readers).to.deep.equal([1])
    await unread(1)
    await write(1)
    expect(await rw.readLock().forceUnlock()).to.equal(false)
    expect((await shape(redis, name)).writers).to.deep.equal([1])
  })

  it('A forced release of readers deletes the key and their read timeout keys, and publishes 0', async () => {
    await read(1)
    await read(1)
    await read(2)
    await new ForeignSide(redis, name).read(7, 30_000, 30_000)
    expect(await rw.readLock().forceUnlock()).to.equal(true)
    await expectNothingLeft(redis, name)
    expect(await reported()).to.deep.equal(['0'])
  })

  it("A forced release of a writer ends its client's read holds too, told at once", async () => {
    await redisson.run(async () => {
      await rw.writeLock().lock()
      const reading = await rw.readLock().acquire()
      expect(await rw.writeLock().forceUnlock()).to.equal(true)
      expect(reading.isHeld).to.equal(false)
      expect(reading.signal.aborted).to.equal(true)
    })
    await expectNothingLeft(redis, name)
  })

  it('A forced release of a writer deletes the keys of its read holds, and publishes 1', async () => {
    await write(1)
    await read(1)
    await read(1)
    expect(await rw.writeLock().forceUnlock()).to.equal(true)
    await expectNothingLeft(redis, name)
    expect(await reported()).to.deep.equal(['1'])
  })

  it('A forced release of what a writer reads: its read holds end, its write hold stays', async () => {
    await write(1)
    await read(1)
    expect(await rw.readLock().forceUnlock()).to.equal(true)
    await expectShape('write', [], [1], 0)
    expect((await rejection(unread(1))).name).to.equal('LockLostError')
    await unwrite(1)
    await expectNothingLeft(redis, name)
  })

  it('A forced release behind an unlock(): a hold that was released is not lost (V155)', async () => {
    const go = latch()
    const sent = latch()
    const transport = tapped(async (each) => {
      if (each.name !== 'read-lock/force-release') return await each.pass()
      sent.open()
      await go.opened
      return await each.pass()
    })
    const own = await createRedisson({}, { transport })
    const lost: unknown[] = []
    own.on('lockLost', ({ threadId }) => lost.push(threadId))
    const lock = own.getReadWriteLock(name).readLock()
    const [released, stays] = [await lock.acquire(), await lock.acquire()]
    const forcing = lock.forceUnlock()
    await sent.opened
    const releasing = released.unlock()
    go.open()
    await Promise.all([forcing, releasing])
    expect(released.signal.aborted).to.equal(false)
    expect(lost).to.deep.equal([stays.threadId])
  })
})
