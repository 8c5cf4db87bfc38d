import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { LockLostError, type RReadWriteLock } from '../../src/index'
import { createRedisson, rejection, uniqueName } from '../kit/clients'
import { clientAndRedis, name, redis, redisson } from '../kit/each-test'
import { deferred, stillPending } from '../kit/observing'
import { expectNothingLeft } from '../kit/read-write/state'

describe('Siblings below a thread that holds a read-write lock', () => {
  let rw: RReadWriteLock
  let reading: number
  let writing: number
  let order: string[]

  clientAndRedis('rw-siblings')
  beforeEach(() => {
    rw = redisson.getReadWriteLock(name)
    reading = writing = 0
    order = []
  })

  const branch = <T>(fn: () => Promise<T>): Promise<T> => redisson.getLock(uniqueName('branch')).withLock(fn)

  const read = (name = 'read') =>
    rw.readLock().withLock(async () => {
      order.push(name)
      reading++
      expect(writing).to.equal(0)
      await sleep(5)
      expect(writing).to.equal(0)
      reading--
    })
  const write = (name = 'write') =>
    rw.writeLock().withLock(async () => {
      order.push(name)
      expect(++writing).to.equal(1)
      expect(reading).to.equal(0)
      await sleep(5)
      expect(reading).to.equal(0)
      expect(writing--).to.equal(1)
    })

  it('Siblings that write exclude each other', async () => {
    await rw.writeLock().withLock(() => Promise.all([write('1'), write('2'), write('3')]))
    expect(order).to.deep.equal(['1', '2', '3'])
    await expectNothingLeft(redis, name)
  })

  it('Siblings read together below a reader, and one by one below a writer', async () => {
    await rw.readLock().withLock(async () => {
      const all = deferred()
      let inside = 0
      const readUntilAllDo = () =>
        rw.readLock().withLock(async () => {
          if (++inside === 3) all.resolve()
          await all.promise
        })
      await Promise.all([readUntilAllDo(), readUntilAllDo(), readUntilAllDo()])
    })
    await rw.writeLock().withLock(async () => {
      const leave = deferred()
      const first = rw.readLock().withLock(() => leave.promise)
      const second = read('second')
      expect(await stillPending(second, 30)).to.equal(true)
      leave.resolve()
      await Promise.all([first, second])
    })
  })

  it('Siblings below a writer exclude each other in order, to read or to write', async () => {
    await rw
      .writeLock()
      .withLock(() =>
        Promise.all([read('r1'), read('r2'), write('w1'), read('r3'), read('r4'), write('w2'), write('w3')]),
      )
    expect(order).to.deep.equal(['r1', 'r2', 'w1', 'r3', 'r4', 'w2', 'w3'])
    await expectNothingLeft(redis, name)
  })

  it('Siblings that re-enter the read hold of the writer above exclude one that writes', async () => {
    await redisson.run(async () => {
      await rw.writeLock().lock()
      await rw.readLock().lock()
      await Promise.all([read(), write(), read(), write()])
      await rw.readLock().unlock()
      await rw.writeLock().unlock()
    })
    expect(order).to.have.length(4)
  })

  it('A branch that reads reads again at once while a sibling waits to write', async () => {
    await rw.writeLock().withLock(async () => {
      const entered = deferred()
      const leave = deferred()
      const reader = rw.readLock().withLock(async () => {
        entered.resolve()
        await leave.promise
        expect(await rw.readLock().tryLock()).to.equal(true)
        await rw.readLock().unlock()
        await read()
      })
      await entered.promise
      const writer = write()
      expect(await stillPending(writer, 30)).to.equal(true)
      leave.resolve()
      await Promise.all([reader, writer])
    })
    expect(order).to.deep.equal(['read', 'write'])
  })

  it('tryLock() of a read-write lock answers according to what siblings do', async () => {
    await rw.writeLock().withLock(async () => {
      const leave = deferred()
      const reader = rw.readLock().withLock(() => leave.promise)
      expect(await branch(() => rw.readLock().tryLock())).to.equal(false)
      expect(await branch(() => rw.writeLock().tryLock())).to.equal(false)
      leave.resolve()
      await reader
      const stay = deferred()
      const writer = rw.writeLock().withLock(() => stay.promise)
      expect(await branch(() => rw.readLock().tryLock())).to.equal(false)
      expect(await branch(() => rw.readLock().tryLock(20))).to.equal(false)
      expect(await branch(() => rw.writeLock().tryLock())).to.equal(false)
      stay.resolve()
      await writer
    })
  })

  it('A branch that reads below a writer may write, and a sibling waits for both', async () => {
    await rw.writeLock().withLock(async () => {
      const inside = rw.readLock().withLock(() => write('first'))
      await Promise.all([inside, read('second')])
    })
    expect(order).to.deep.equal(['first', 'second'])
  })

  it('An ancestor that reads does not pass a descendant that it awaits and that writes', async () => {
    await rw.writeLock().withLock(() =>
      branch(async () => {
        const childReads = deferred()
        const leave = deferred()
        const reader = rw.readLock().withLock(async () => {
          childReads.resolve()
          await leave.promise
        })
        await childReads.promise
        const grandchildWaits = deferred()
        const parentWaits = deferred()
        const child = branch(async () => {
          const grandchild = write('grandchild')
          await sleep(20)
          grandchildWaits.resolve()
          await parentWaits.promise
          const own = rw.readLock().lock()
          expect(await stillPending(own, 30)).to.equal(true)
          leave.resolve()
          await Promise.all([own, grandchild])
          await rw.readLock().unlock()
        })
        await grandchildWaits.promise
        const own = rw.readLock().lock()
        expect(await stillPending(own, 30)).to.equal(true)
        parentWaits.resolve()
        await Promise.all([reader, child, own])
        await rw.readLock().unlock()
      }),
    )
    expect(order).to.deep.equal(['grandchild'])
  })

  it('Branches that wait to read enter beside the write hold that an ancestor acquires meanwhile', async () => {
    const other = await createRedisson()
    const held = await other.getReadWriteLock(name).writeLock().acquire()
    await redisson.run(async () => {
      const own = rw.writeLock().lock()
      const waiting = [read(), read()]
      expect(await stillPending(Promise.race(waiting), 50)).to.equal(true)
      await held.unlock()
      await own
      await Promise.all(waiting)
      await rw.writeLock().unlock()
    })
    expect(order).to.have.length(2)
  })

  it('Branches that wait to read reject as lost when the write hold above is lost', async () => {
    await rejection(
      rw.writeLock().withLock(async () => {
        const leave = deferred()
        const inside = rejection(rw.writeLock().withLock(() => leave.promise))
        const waiting = rejection(read())
        expect(await stillPending(waiting, 30)).to.equal(true)
        await rw.writeLock().forceUnlock()
        expect(await waiting).to.be.instanceOf(LockLostError)
        leave.resolve()
        await inside
      }),
    )
    expect(order).to.deep.equal([])
  })

  it('A branch that waits to write goes on when the writer above it releases its hold', async () => {
    await redisson.run(async () => {
      await rw.writeLock().lock()
      const leave = deferred()
      const reader = rw.readLock().withLock(() => leave.promise)
      await sleep(20)
      const writer = write()
      expect(await stillPending(writer, 30)).to.equal(true)
      await rw.writeLock().unlock()
      leave.resolve()
      await Promise.all([reader, writer])
    })
    expect(order).to.deep.equal(['write'])
  })

  it('A branch whose read level expired below a writer lets its sibling in', async () => {
    const done = deferred()
    await rw.writeLock().withLock(async () => {
      const late = branch(async () => {
        await rw.readLock().lock(200)
        await done.promise
        expect(await rejection(rw.readLock().unlock())).to.be.instanceOf(LockLostError)
      })
      await sleep(50)
      await branch(async () => expect(await rw.readLock().tryLock(10_000)).to.equal(true))
      done.resolve()
      await late
    })
  })
})
