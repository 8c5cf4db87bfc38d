import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { TimeUnit } from '../../src/index'
import { createRedisson, rejection, timed, uniqueName } from '../kit/clients'
import { clientAndRedis, lock, name, redisson } from '../kit/each-test'
import { startStandalone, waitUntil } from '../kit/servers/index'

/**
 * Redisson's own tests of RLock, asked of ours: one here for each there, by its name. Java's threads are
 * `redisson.run` scopes. Times are shorter where they only have to be longer than something.
 * What has no counterpart stands in test/unit/redisson-tests.test.ts.
 */
describe("Redisson's tests of one lock", () => {
  clientAndRedis()

  it('RedissonLockTest.testLockIsNotRenewedAfterInterruptedTryLock: nothing held', async () => {
    const redisson = await createRedisson({ lockWatchdogTimeout: 300 })
    const lock = redisson.getLock(uniqueName())
    let aborted = 0
    for (let round = 0; round < 20; round++) {
      const controller = new AbortController()
      const trying = redisson.run(() => lock.tryLock({ signal: controller.signal }))
      // The command is on its way by then, and may or may not have been answered.
      setImmediate(() => controller.abort())
      await trying.then(
        (held) => redisson.run(async () => (held ? lock.forceUnlock() : undefined)),
        (error) => {
          expect(error).to.have.property('name', 'AbortError')
          aborted++
        },
      )
    }
    expect(aborted).to.be.greaterThan(0)
    await sleep(700)
    expect(await lock.isLocked()).to.equal(false)
  })

  it('RedissonLockTest.testRedisFailed: a dead server is an error, not a hang and not a false', async () => {
    const server = await startStandalone()
    const redisson = await createRedisson({ redis: server.url })
    const lock = redisson.getLock('myLock')
    await server.stop()
    expect(await rejection(lock.tryLock(500, 10_000))).to.have.property('code', 'REDIS_UNAVAILABLE')
  })

  it('RedissonLockTest.testRemainTimeToLive2: a partial release keeps the asked lease', async () => {
    await redisson.run(async () => {
      const lock = redisson.getLock(uniqueName())
      for (let i = 0; i < 3; i++) await lock.lock(10, TimeUnit.SECONDS)
      await lock.unlock()
      await lock.unlock()
      expect(await lock.remainTimeToLive()).to.be.within(9_000, 10_000)
      await lock.unlock()
    })
  })

  it('RedissonLockTest.testTryLockWait: the wait is as long as it was said', async () => {
    const [holder, redisson] = [await createRedisson(), await createRedisson()]
    const hold = await holder.getLock(name).acquire()
    const took = await timed(() => redisson.getLock(name).tryLock(1, TimeUnit.SECONDS))
    expect(took).to.be.within(990, 1_350)
    await hold.unlock()
  })

  it('RedissonLockTest.testLockUninterruptibly: waits on while others are aborted', async () => {
    const hold = await lock.acquire({ leaseTime: 600_000 })
    const controller = new AbortController()
    let entered = false
    const waiting = redisson.run(async () => {
      await lock.lock(10, TimeUnit.MINUTES)
      entered = true
      await lock.unlock()
    })
    const interrupted = rejection(lock.lock({ signal: controller.signal }))
    await sleep(50)
    controller.abort(new Error('interrupted'))
    expect((await interrupted).message).to.equal('interrupted')
    await sleep(200)
    expect(entered).to.equal(false)
    await hold.unlock()
    await waiting
    expect(entered).to.equal(true)
  })

  it('RedissonLockTest.testForceUnlock: the lock is free, through any object', async () => {
    await redisson.run(async () => {
      const lock = redisson.getLock(name)
      await lock.lock()
      await lock.forceUnlock()
      expect(await lock.isLocked()).to.equal(false)
      expect(await redisson.getLock(name).isLocked()).to.equal(false)
    })
  })

  it("RedissonLockTest.testExpire: a waiter enters at the lease's end, unlock() fails", async () => {
    await redisson.run(async () => {
      const lock = redisson.getLock(name)
      await lock.lock(500)
      const waiter = redisson.run(async () => {
        const took = await timed(() => redisson.getLock(name).lock())
        await redisson.getLock(name).unlock()
        return took
      })
      expect(await waiter).to.be.within(400, 600)
      expect(await rejection(lock.unlock())).to.have.property('code', 'LOCK_LOST')
    })
  })

  it('RedissonLockTest.testRemainTimeToLive: a lease, no key, and the watchdog timeout', async () => {
    await redisson.run(async () => {
      const lock = redisson.getLock(uniqueName('test-lock:1'))
      const hour = TimeUnit.HOURS.toMillis(1)
      await lock.lock(1, TimeUnit.HOURS)
      expect(await lock.remainTimeToLive()).to.be.within(hour - 100, hour)
      await lock.unlock()
      expect(await lock.remainTimeToLive()).to.equal(-2)
      await lock.lock()
      expect(await lock.remainTimeToLive()).to.be.within(29_900, 30_000)
      await lock.unlock()
    })
  })

  it("RedissonLockTest.testAutoExpire: a dead client's lock is free by the watchdog time", async () => {
    const doomed = await createRedisson({ lockWatchdogTimeout: 600 })
    await doomed.run(() => doomed.getLock(name).lock())
    await sleep(900)
    expect(await redisson.getLock(name).isLocked()).to.equal(true)
    await doomed.shutdown({ timeout: 0 })
    await waitUntil('it is free', async () => !(await lock.isLocked()), 700)
  })

  it('RedissonLockTest.testGetHoldCount: counts up with each lock() and down with each unlock()', async () => {
    await redisson.run(async () => {
      const lock = redisson.getLock(uniqueName())
      for (const [call, count] of [
        ['lock', 1],
        ['unlock', 0],
        ['lock', 1],
        ['lock', 2],
        ['unlock', 1],
        ['unlock', 0],
      ] as const) {
        await lock[call]()
        expect(await lock.getHoldCount()).to.equal(count)
      }
    })
  })

  it('RedissonLockTest.testIsHeldByCurrentThreadOtherThread: one holds, another not', async () => {
    const elsewhere = () => redisson.run(() => redisson.getLock(name).isHeldByCurrentThread())
    await redisson.run(async () => {
      const lock = redisson.getLock(name)
      await lock.lock()
      expect(await elsewhere()).to.equal(false)
      await lock.unlock()
      expect(await elsewhere()).to.equal(false)
    })
  })

  it('RedissonLockTest.testIsHeldByCurrentThread: only between lock() and unlock()', async () => {
    await redisson.run(async () => {
      const lock = redisson.getLock(uniqueName())
      expect(await lock.isHeldByCurrentThread()).to.equal(false)
      await lock.lock()
      expect(await lock.isHeldByCurrentThread()).to.equal(true)
      await lock.unlock()
      expect(await lock.isHeldByCurrentThread()).to.equal(false)
    })
  })

  it('RedissonLockTest.testIsLockedOtherThread: locked is locked for every caller', async () => {
    const elsewhere = () => redisson.run(() => redisson.getLock(name).isLocked())
    await redisson.run(async () => {
      const lock = redisson.getLock(name)
      await lock.lock()
      expect(await elsewhere()).to.equal(true)
      await lock.unlock()
      expect(await elsewhere()).to.equal(false)
    })
  })

  it('RedissonLockTest.testIsLocked: only between lock() and unlock()', async () => {
    await redisson.run(async () => {
      const lock = redisson.getLock(uniqueName())
      expect(await lock.isLocked()).to.equal(false)
      await lock.lock()
      expect(await lock.isLocked()).to.equal(true)
      await lock.unlock()
      expect(await lock.isLocked()).to.equal(false)
    })
  })

  it("RedissonLockTest.testUnlockFail: another thread's lock cannot be unlocked, and stays", async () => {
    await redisson.run(async () => {
      await redisson.getLock(name).lock()
      const error = await rejection(redisson.run(() => redisson.getLock(name).unlock()))
      expect(error).to.have.property('code', 'ILLEGAL_MONITOR_STATE')
      expect(await redisson.getLock(name).isHeldByCurrentThread()).to.equal(true)
      await redisson.getLock(name).unlock()
    })
  })

  it('RedissonLockTest.testLockUnlock: a lock can be taken again and again', async () => {
    for (let round = 0; round < 2; round++) {
      await lock.lock()
      await lock.unlock()
    }
    expect(await lock.isLocked()).to.equal(false)
  })

  it('RedissonLockTest.testReentrancy: one level released of two still keeps others out', async () => {
    await redisson.run(async () => {
      const lock = redisson.getLock(name)
      expect(await lock.tryLock()).to.equal(true)
      expect(await lock.tryLock()).to.equal(true)
      await lock.unlock()
      expect(await redisson.run(() => redisson.getLock(name).tryLock())).to.equal(false)
      await lock.unlock()
      expect(await lock.isLocked()).to.equal(false)
    })
  })
})
