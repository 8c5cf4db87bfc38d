import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { Redis } from 'ioredis'
import { closeAll, createRedisson, openRedis, rejection, uniqueName } from '../support/clients'
import { ScriptCounter } from '../support/tapped-transport'

describe('the leases of nested levels', () => {
  let redis: Redis

  beforeEach(async () => {
    redis = await openRedis()
  })

  afterEach(closeAll)

  it('guarantee 6: an inner lease never shortens what an outer level still needs', async () => {
    const redisson = await createRedisson()
    const lock = redisson.getLock(uniqueName())
    await redisson.run(async () => {
      await lock.lock(20_000)
      await lock.lock(500)
      expect(await redis.pttl(lock.getName())).to.be.greaterThan(15_000)
      await sleep(700)
      expect(await lock.getHoldCount()).to.equal(2)
      await lock.unlock()
      await lock.unlock()
    })
  })

  it('guarantee 6: an inner lease does not stop the watchdog of an outer level', async () => {
    const redisson = await createRedisson({ lockWatchdogTimeout: 900 })
    const lock = redisson.getLock(uniqueName())
    await redisson.run(async () => {
      await lock.lock()
      await lock.lock(300)
      await sleep(2_000)
      expect(await lock.getHoldCount()).to.equal(2)
      await lock.unlock()
      await sleep(1_200)
      expect(await lock.getHoldCount()).to.equal(1)
      await lock.unlock()
    })
  })

  it('guarantee 6: a longer inner lease outlasts the watchdog of an outer level, and is cut back with its unlock()', async () => {
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

  it('guarantee 6: the watchdog of an inner level ends with it, and the outer lease then runs out', async () => {
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
})
