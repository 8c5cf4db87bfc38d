import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { LockLostError, type Redisson, type RLock } from '../../src/index'
import { createRedisson, rejection, uniqueName } from '../kit/clients'
import { clientAndRedis, name, redisson } from '../kit/each-test'

type Kind = (
  redisson: Redisson,
  name: string,
) => Pick<RLock, 'lock' | 'tryLock' | 'unlock' | 'isHeldByCurrentThread'>

const KINDS: Record<string, Kind> = {
  'a plain lock': (redisson, name) => redisson.getLock(name),
  'a fair lock': (redisson, name) => redisson.getFairLock(name),
  'a write lock': (redisson, name) => redisson.getReadWriteLock(name).writeLock(),
  'a multi lock': (redisson, name) =>
    redisson.getMultiLock(redisson.getLock(name), redisson.getLock(`${name}2`)),
  'a RedLock': (redisson, name) =>
    redisson.getRedLock(...['', '2', '3'].map((end) => redisson.getLock(`${name}${end}`))),
}

for (const [kind, make] of Object.entries(KINDS))
  describe(`A late unlock() of ${kind}`, () => {
    for (const before of ['nothing', 'a lease that ends', 'a level that it releases'])
      it(`A late unlock() of ${kind} by an expired branch spares its parent; before: ${before} (V101, V112)`, async () => {
        const [redisson, stranger] = [await createRedisson(), await createRedisson()]
        const name = uniqueName('late')
        const own = make(redisson, name)
        const others = make(stranger, name)
        const another = redisson.getLock(uniqueName('another'))
        await redisson.run(async () => {
          if (before === 'a lease that ends') await own.lock(100)
          if (before === 'a level that it releases') await own.lock()
          let late: Promise<Error> | undefined
          const branch = another.withLock(async () => {
            await own.lock(100)
            await sleep(500)
            // Its lease ended long ago.
            late = rejection(own.unlock())
            await late.catch(() => {})
          })
          await sleep(50)
          if (before === 'a level that it releases') await own.unlock()
          await sleep(200)
          await own.lock()
          await branch
          expect(await others.tryLock(), 'a second holder').to.equal(false)
          expect(await own.isHeldByCurrentThread(), 'the parent has not released it').to.equal(true)
          expect(await late).to.be.instanceOf(LockLostError)
          await own.unlock()
        })
      })
  })

describe('A late unlock() within a section of the same lock', () => {
  clientAndRedis()

  for (const kind of ['a plain lock', 'a multi lock', 'a RedLock'])
    it(`unlock() of an expired level of ${kind}, in another withLock, leaves the outer level`, async () => {
      const [redisson, stranger] = [await createRedisson(), await createRedisson()]
      const own = KINDS[kind]!(redisson, name)
      const another = redisson.getLock(uniqueName('another'))
      await redisson.run(async () => {
        await own.lock()
        await another.withLock(async () => {
          await own.lock(100)
          await sleep(300)
          await own.unlock().catch((error) => expect(error).to.be.instanceOf(LockLostError))
        })
        // The leases of the level that has ended, and of nothing else, are over by now.
        await sleep(200)
        expect(await KINDS[kind]!(stranger, name).tryLock(), 'a second holder').to.equal(false)
        expect(await own.isHeldByCurrentThread(), 'the outer level').to.equal(true)
        await own.unlock()
      })
    })

  it('Two nested levels whose leases have ended: both unlock() reject with LockLostError', async () => {
    const lock = redisson.getLock(uniqueName('late'))
    await redisson.run(async () => {
      await lock.lock(50)
      await sleep(100)
      await lock.lock(50)
      await sleep(100)
      expect(await rejection(lock.unlock()), 'the inner one').to.be.instanceOf(LockLostError)
      expect(await rejection(lock.unlock()), 'the outer one').to.be.instanceOf(LockLostError)
      const third = await rejection(lock.unlock())
      expect(third.name).to.equal('IllegalMonitorStateError')
    })
  })
})
