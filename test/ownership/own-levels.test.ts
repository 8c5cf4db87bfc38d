import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { LockLostError, type Redisson, type RLock } from '../../src/index'
import { createRedisson, rejection, uniqueName } from '../kit/clients'
import { clientAndRedis, redisson } from '../kit/each-test'

type Lock = Pick<RLock, 'lock' | 'tryLock' | 'unlock' | 'acquire' | 'withLock' | 'isHeldByCurrentThread'>
type Kind = (redisson: Redisson, name: string) => Lock

const KINDS: Record<string, Kind> = {
  'a plain lock': (redisson, name) => redisson.getLock(name),
  'a fenced lock': (redisson, name) => redisson.getFencedLock(name),
  'a multi lock': (redisson, name) =>
    redisson.getMultiLock(redisson.getLock(name), redisson.getLock(`${name}2`)),
  'a RedLock': (redisson, name) =>
    redisson.getRedLock(...['', '2', '3'].map((end) => redisson.getLock(`${name}${end}`))),
}

for (const [kind, make] of Object.entries(KINDS))
  describe(`The levels of ${kind}`, () => {
    let own: Lock
    let others: Lock
    let another: RLock

    clientAndRedis('test', { lockWatchdogTimeout: 1_500 })
    beforeEach(async () => {
      const name = uniqueName('own-levels')
      own = make(redisson, name)
      others = make(await createRedisson(), name)
      another = redisson.getLock(uniqueName('another'))
    })

    const isFree = async () => {
      if (!(await others.tryLock())) return false
      await others.unlock()
      return true
    }
    const settled = (unlocking: Promise<void>) =>
      unlocking.then(
        () => undefined,
        (error: Error) => error,
      )

    for (const how of ['beside a LockHold', 'twice at once'])
      it(`A late unlock() of a branch of ${kind}, ${how}, spares its parent's new hold (V116)`, async () => {
        await redisson.run(async () => {
          let late: (Error | undefined)[] = []
          const branch = another.withLock(async () => {
            await own.lock(100)
            await sleep(300)
            const hold = how === 'twice at once' ? undefined : await own.acquire()
            if (!hold) await own.lock()
            late = await Promise.all(
              hold ? [settled(own.unlock())] : [settled(own.unlock()), settled(own.unlock())],
            )
            await hold?.unlock()
          })
          await sleep(200)
          await own.lock()
          await branch
          expect(late.filter((error) => error instanceof LockLostError)).to.have.lengthOf(1)
          expect(await isFree(), 'a second holder').to.equal(false)
          await own.unlock()
          expect(await isFree()).to.equal(true)
        })
      })

    it(`A late unlock() of ${kind} does not end a level left to its timer (V116)`, async () => {
      await redisson.run(async () => {
        let timer: Promise<void> | undefined
        await own.lock(100)
        await sleep(200)
        await own.lock()
        await another.withLock(async () => {
          await own.lock()
          timer = sleep(400).then(() => own.unlock())
        })
        await own.unlock()
        expect(await rejection(own.unlock())).to.be.instanceOf(LockLostError)
        expect(await isFree(), 'the timer is inside').to.equal(false)
        await timer
        expect(await isFree()).to.equal(true)
      })
    })

    it(`The timer of an ended withLock() of ${kind} releases what it acquired (V117)`, async () => {
      let timer: Promise<void> | undefined
      const work = async () => {
        timer = sleep(50).then(async () => {
          await own.lock()
          await own.unlock()
        })
      }
      await own.withLock(work)
      await timer
      expect(redisson.stats().held).to.equal(0)
      expect(await isFree()).to.equal(true)
    })

    it(`A function of withLock() of ${kind} without its hold enters its parent's (V117)`, async () => {
      await redisson.run(async () => {
        const work = own.withLock(async (hold) => {
          await hold.unlock()
          await sleep(200)
          await own.lock()
          await own.unlock()
        })
        await sleep(100)
        await own.lock()
        await work
        expect(await own.isHeldByCurrentThread()).to.equal(true)
        await own.unlock()
      })
    })

    it(`The timer of an ended thread releases only what it acquired of ${kind} (V117)`, async () => {
      let outer: Promise<Error> | undefined
      let inner: Promise<void> | undefined
      await redisson.run(async () => {
        await own.lock(100)
        outer = sleep(600).then(() => rejection(own.unlock()))
        await another.withLock(async () => {
          inner = sleep(300).then(async () => {
            await own.lock()
            expect(await own.isHeldByCurrentThread()).to.equal(true)
            await own.unlock()
          })
        })
      })
      await inner
      expect(await outer).to.be.instanceOf(LockLostError)
      expect(redisson.stats().held).to.equal(0)
      expect(await isFree()).to.equal(true)
    })

    it(`unlock() of ${kind} waits for the lock() of its thread that is in flight (V117)`, async () => {
      await redisson.run(async () => {
        await Promise.all([own.lock(), own.unlock()])
        expect(redisson.stats().held).to.equal(0)
      })
    })

    it(`unlock() of ${kind} waits for a lock() in flight, also past its thread (V117)`, async () => {
      let calls: Promise<unknown> | undefined
      await redisson.run(() => {
        calls = Promise.all([own.lock(), own.unlock()])
      })
      await calls
      expect(redisson.stats().held).to.equal(0)
      expect(await isFree()).to.equal(true)
    })

    it(`A parent does not hold ${kind} through its branch, also after ended leases (V117)`, async () => {
      await redisson.run(async () => {
        await own.lock(150)
        await own.lock()
        await sleep(200)
        await own.unlock()
        await sleep(350)
        const branch = another.withLock(async () => {
          await own.lock()
          await sleep(200)
          await own.unlock()
        })
        await sleep(100)
        expect(await own.isHeldByCurrentThread()).to.equal(false)
        expect(await rejection(own.unlock())).to.be.instanceOf(LockLostError)
        await branch
      })
    })
  })

describe('The levels of code without a thread', () => {
  it('Of two readers of one object, the first unlock() ends the earlier lease (V118)', async () => {
    const [redisson, stranger] = [await createRedisson(), await createRedisson()]
    const name = uniqueName('own-levels')
    const reader = redisson.getReadWriteLock(name).readLock()
    await reader.lock()
    await reader.lock(300)
    await reader.unlock()
    await sleep(500)
    const writer = stranger.getReadWriteLock(name).writeLock()
    expect(await writer.tryLock(), 'a writer beside a reader').to.equal(false)
    await reader.unlock()
    expect(await writer.tryLock()).to.equal(true)
    await writer.unlock()
  })

  it('A multi lock that was lost and forgotten leaves no member behind that is renewed (V118)', async () => {
    const [one, two] = [await createRedisson(), await createRedisson()]
    const [first, second] = [uniqueName('own-levels'), uniqueName('own-levels')]
    const both = one.getMultiLock(
      one.getReadWriteLock(first).readLock(),
      two.getReadWriteLock(second).readLock(),
    )
    const callers = Array.from({ length: 150 }, () => both.lock())
    await Promise.all(callers)
    await one.getReadWriteLock(first).readLock().forceUnlock()
    const unlocked = await Promise.all(callers.map(() => rejection(both.unlock())))
    for (const error of unlocked) expect(error).to.be.instanceOf(LockLostError)
    expect([one, two].map((client) => client.stats().held)).to.deep.equal([0, 0])
  })
})
