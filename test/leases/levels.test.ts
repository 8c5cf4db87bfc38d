import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { createRedisson, rejection, uniqueName } from '../kit/clients'
import { clientAndRedis, redis, redisson } from '../kit/each-test'
import { waitUntil } from '../kit/servers/index'
import { latch, ScriptCounter, tapped } from '../kit/tapped-transport'

describe('the leases of nested levels', () => {
  clientAndRedis()

  it('A longer inner lease outlasts the outer watchdog, and ends with its unlock()', async () => {
    const redisson = await createRedisson({ lockWatchdogTimeout: 900 })
    const lock = redisson.getLock(uniqueName())
    await redisson.run(async () => {
      await lock.lock()
      await lock.lock(20_000)
      await sleep(1_200)
      expect(await redis.pttl(lock.getName())).to.be.within(15_000, 19_000)
      await lock.unlock()
      expect(await redis.pttl(lock.getName())).to.be.within(1, 900)
      await sleep(1_200)
      expect(await lock.getHoldCount()).to.equal(1)
      await lock.unlock()
    })
  })

  it("A read hold whose outer lease ran out ends with its inner level's unlock()", async () => {
    let losses = 0
    redisson.on('lockLost', () => losses++)
    const lock = redisson.getReadWriteLock(uniqueName()).readLock()
    const outer = await lock.acquire({ leaseTime: 300, threadId: 1 })
    const inner = await lock.acquire({ leaseTime: 20_000, threadId: 1 })
    await sleep(500)
    expect(outer.isHeld).to.equal(true)
    await inner.unlock()
    expect(await redis.exists(lock.getName())).to.equal(0)
    expect(outer.isHeld).to.equal(false)
    expect(await lock.tryLock({ threadId: 1 })).to.equal(true)
    expect((await rejection(outer.unlock())).code).to.equal('LOCK_LOST')
    expect(losses).to.equal(0)
    await lock.unlock({ threadId: 1 })
    expect(await redis.exists(lock.getName())).to.equal(0)
  })

  it('An inner level of a read hold that ran out is released far from the server too', async () => {
    let releases = 0
    const transport = tapped(async (sent) => {
      await sleep(10)
      if (sent.name === 'read-lock/release' && !sent.bySource) releases++
      return await sent.pass()
    })
    const redisson = await createRedisson({}, { transport })
    const lock = redisson.getReadWriteLock(uniqueName()).readLock()
    await lock.lock({ leaseTime: 60_000, threadId: 1 })
    await lock.lock({ leaseTime: 300, threadId: 1 })
    await sleep(500)
    await lock.unlock({ threadId: 1 })
    expect(Object.values(await redis.hgetall(lock.getName())).sort()).to.deep.equal(['1', 'read'])
    expect(await redis.pttl(lock.getName())).to.be.greaterThan(50_000)
    expect(releases).to.equal(2)
    await lock.unlock({ threadId: 1 })
    expect(await redis.exists(lock.getName())).to.equal(0)
  })

  it('The watchdog of an inner level ends with it, and the outer lease then runs out', async () => {
    const scripts = new ScriptCounter()
    const redisson = await createRedisson({ lockWatchdogTimeout: 600 }, { transport: scripts.transport })
    const lock = redisson.getLock(uniqueName())
    await redisson.run(async () => {
      const outer = await lock.acquire({ leaseTime: 800 })
      const inner = await lock.acquire()
      await sleep(1_500)
      expect(inner.isHeld && outer.isHeld).to.equal(true)
      await inner.unlock()
      const renewals = scripts.of('lock/renew')
      await sleep(1_000)
      expect(scripts.of('lock/renew')).to.equal(renewals)
      expect(outer.isHeld).to.equal(false)
      expect((await rejection(outer.unlock())).code).to.equal('LOCK_LOST')
    })
    expect(await redis.exists(lock.getName())).to.equal(0)
  })

  it('A renewal after the unlock() of its level keeps the lock no longer (V192)', async () => {
    const [sent, released] = [latch(), latch()]
    const transport = tapped(async (script) => {
      if (script.name !== 'lock/renew') return await script.pass()
      sent.open()
      await released.opened
      return await script.pass()
    })
    const redisson = await createRedisson({ lockWatchdogTimeout: 6_000 }, { transport })
    const lock = redisson.getLock(uniqueName())
    const outer = await lock.acquire({ leaseTime: 3_000, threadId: 1 })
    const inner = await lock.acquire({ threadId: 1 })
    await sent.opened
    await inner.unlock()
    released.open()
    await waitUntil('the renewal arrives', async () => (await redis.pttl(lock.getName())) > 4_000)
    if (!outer.signal.aborted) await once(outer.signal, 'abort')
    await waitUntil('the lock is free', async () => (await redis.exists(lock.getName())) === 0, 2_000)
  })

  it("A read level is told of its end when the last level's release is sent, not answered (V119)", async () => {
    const reader = redisson.getReadWriteLock(uniqueName()).readLock()
    await redisson.run(async () => {
      const short = await reader.acquire({ leaseTime: 100 })
      const long = await reader.acquire()
      const { signal } = short
      await sleep(200)
      expect(signal.aborted).to.equal(false)
      const unlocking = long.unlock()
      // Promises only: no answer of the server can arrive meanwhile.
      for (let turns = 0; turns < 20; turns++) await Promise.resolve()
      expect(signal.aborted).to.equal(true)
      await unlocking
    })
  })
})
