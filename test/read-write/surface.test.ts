import { expect } from 'chai'
import type { Redis } from 'ioredis'
import { type LockLostEvent, type Redisson, type RLock, TimeUnit } from '../../src/index'
import { waitUntil } from '../servers'
import { closeAll, createRedisson, openRedis, rejection, timed, uniqueName } from '../support/clients'
import { expectNothingLeft, ForeignSide, look } from './looking'

for (const side of ['read', 'write'] as const) {
  /** Both sides are RLocks in every respect. */
  describe(`read-write lock: the ${side} side as an RLock`, () => {
    let redisson: Redisson
    let redis: Redis
    let name: string
    let lock: RLock
    let lost: LockLostEvent[]
    const of = (client: Redisson, of = name): RLock => {
      const rw = client.getReadWriteLock(of)
      return side === 'read' ? rw.readLock() : rw.writeLock()
    }
    const fields = async () => (await look(redis, name)).fields

    beforeEach(async () => {
      redisson = await createRedisson()
      redis = await openRedis()
      name = uniqueName('rw')
      lock = of(redisson)
      lost = []
      redisson.on('lockLost', (event) => lost.push(event))
    })
    afterEach(closeAll)

    it('has the name, and is the same object each time', () => {
      const rw = redisson.getReadWriteLock(name)
      expect(rw.getName()).to.equal(name)
      expect(rw.readLock()).to.equal(rw.readLock())
      expect(rw.writeLock()).to.equal(rw.writeLock())
      expect(lock.getName()).to.equal(name)
    })

    it('re-enters within a logical thread, through other objects and in children', async () => {
      await redisson.run(async () => {
        await lock.lock()
        expect(await of(redisson).tryLock()).to.equal(true)
        await of(redisson).withLock(async () => {
          expect(Object.values(await fields())).to.deep.equal([3])
          expect(await lock.getHoldCount()).to.equal(3)
        })
        expect(await lock.getHoldCount()).to.equal(2)
        await lock.unlock()
        await lock.unlock()
        expect((await rejection(lock.unlock())).name).to.equal('IllegalMonitorStateError')
      })
      await expectNothingLeft(redis, name)
    })

    it('counts and answers by caller', async () => {
      await lock.lock({ threadId: 1 })
      await lock.lock({ threadId: 1 })
      expect(await lock.isHeldByThread(1)).to.equal(true)
      expect(await lock.isHeldByThread(2)).to.equal(false)
      expect(await lock.isHeldByCurrentThread()).to.equal(false)
      expect(await lock.getHoldCount()).to.equal(0)
      expect(await lock.isLocked()).to.equal(true)
      expect(await of(await createRedisson()).isHeldByThread(1), 'ids are local').to.equal(false)
      expect(await lock.remainTimeToLive()).to.be.within(28_000, 60_000)
      await lock.unlock({ threadId: 1 })
      await lock.unlock({ threadId: 1 })
      expect(await lock.isLocked()).to.equal(false)
      expect(await lock.remainTimeToLive()).to.equal(-2)
    })

    it('takes units', async () => {
      expect(await lock.tryLock(1, 20, TimeUnit.SECONDS)).to.equal(true)
      expect(await lock.remainTimeToLive()).to.be.within(18_000, 20_000)
      await lock.unlock()
      await lock.lock(1, TimeUnit.MINUTES)
      expect(await lock.remainTimeToLive()).to.be.within(58_000, 60_000)
      await lock.unlock()
      expect((await rejection(lock.lock(0))).name).to.equal('RangeError')
      await expectNothingLeft(redis, name)
    })

    it('withLock gives the value or the error, and lets go either way', async () => {
      expect(await lock.withLock(async (hold) => hold.isHeld && hold.lockName)).to.equal(name)
      const failing = lock.withLock(() => {
        throw new Error('inside')
      })
      expect((await rejection(failing)).message).to.equal('inside')
      await expectNothingLeft(redis, name)
    })

    it('withLock tells a loss, with the value', async () => {
      const error = await rejection(
        lock.withLock(async (hold) => {
          await lock.forceUnlock()
          expect(hold.signal.aborted).to.equal(true)
          return 42
        }),
      )
      expect(error).to.include({ name: 'LockLostError', code: 'LOCK_LOST', result: 42 })
    })

    it('gives holds, released once, from any scope', async () => {
      const hold = await redisson.run(() => lock.acquire())
      expect(await fields()).to.deep.equal({
        [`${redisson.getId()}:${hold.threadId}${side === 'write' ? ':write' : ''}`]: 1,
      })
      await hold.unlock()
      expect(hold.isHeld).to.equal(false)
      expect((await rejection(hold.unlock())).name).to.equal('IllegalMonitorStateError')
      await hold[Symbol.asyncDispose]()
      const another = (await lock.tryAcquire({ waitTime: 100 }))!
      await another[Symbol.asyncDispose]()
      await expectNothingLeft(redis, name)
    })

    it('gives up by signal, waiting or not', async () => {
      await new ForeignSide(redis, name).write(1, 60_000)
      const reason = new Error('enough')
      expect(await rejection(lock.lock({ signal: AbortSignal.abort(reason) }))).to.equal(reason)
      const controller = new AbortController()
      const waiting = rejection(lock.acquire({ signal: controller.signal }))
      setTimeout(() => controller.abort(reason), 50)
      expect(await waiting).to.equal(reason)
    })

    it('tells its own clients of a forced release at once (atlas C5)', async () => {
      const hold = await lock.acquire()
      expect(await lock.forceUnlock()).to.equal(true)
      expect(hold.isHeld).to.equal(false)
      expect(hold.signal.reason).to.have.property('name', 'LockLostError')
      expect(lost.map((event) => [event.reason, event.threadId])).to.deep.equal([['forced', hold.threadId]])
      expect((await rejection(hold.unlock())).name).to.equal('LockLostError')
      expect(await lock.forceUnlock()).to.equal(false)
    })

    it('a forced release wakes the waiters', async () => {
      await lock.lock({ threadId: 1 })
      const other = (await createRedisson()).getReadWriteLock(name)
      const waiting = other.writeLock().lock()
      await waitUntil('it waits', async () => {
        const [, count] = (await redis.pubsub('NUMSUB', `redisson_rwlock:{${name}}`)) as [string, number]
        return Number(count) === 1
      })
      const took = await timed(async () => {
        await lock.forceUnlock()
        await waiting
      })
      expect(took).to.be.below(3_000)
    })

    it('atlas C3: an expired hold does not release its successor', async () => {
      await lock.lock({ threadId: 1, leaseTime: 80 })
      await waitUntil('it ran out', async () => (await look(redis, name)).ttl === -2, 5_000, 5)
      const successor = of(await createRedisson())
      await successor.lock({ threadId: 1 })
      const before = await fields()
      expect((await rejection(lock.unlock({ threadId: 1 }))).name).to.equal('LockLostError')
      expect(await fields()).to.deep.equal(before)
      expect(lost, 'a lease that ran out is no loss').to.deep.equal([])
    })

    it('atlas C4: whoever holds nothing is told so', async () => {
      for (const attempt of [
        lock.unlock(),
        lock.unlock({ threadId: 1 }),
        redisson.run(() => lock.unlock()),
      ]) {
        const error = await rejection(attempt)
        expect(error).to.include({ name: 'IllegalMonitorStateError', code: 'ILLEGAL_MONITOR_STATE' })
        expect(error.message).to.contain(name).and.to.contain(redisson.getId())
      }
      await expectNothingLeft(redis, name)
    })

    it('rejects a second acquisition of a caller while its first is under way', async () => {
      await new ForeignSide(redis, name).write(1, 60_000)
      const first = lock.tryLock({ threadId: 1, waitTime: 200 })
      expect((await rejection(lock.lock({ threadId: 1 }))).name).to.equal('IllegalMonitorStateError')
      expect(await first).to.equal(false)
    })

    it('leaves its keys to their lease on shutdown, and aborts the signals', async () => {
      const hold = await lock.acquire({ leaseTime: 60_000 })
      await redisson.shutdown({ timeout: 0 })
      expect(hold.signal.reason).to.have.property('name', 'RedissonShutdownError')
      expect((await look(redis, name)).ttl).to.be.greaterThan(50_000)
      expect((await rejection(lock.lock())).name).to.equal('RedissonShutdownError')
    })
  })
}
