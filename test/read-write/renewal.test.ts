import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { Redis } from 'ioredis'
import type { LockLostEvent, Redisson, RLock } from '../../src/index'
import { waitUntil } from '../servers'
import { closeAll, createRedisson, openRedis, rejection, uniqueName } from '../support/clients'
import { tapped } from '../support/tapped-transport'
import { clockKey, expectNothingLeft, ForeignSide, look, shape } from './looking'
import { ScriptLog } from './script-log'

const WATCHDOG = 900
/** What renewing a hold of this side is called on the way. */
const RENEW = { read: 'read-lock/renew', write: 'lock/renew' }

for (const side of ['read', 'write'] as const) {
  describe(`read-write lock: renewal of the ${side} side`, () => {
    let redis: Redis
    let name: string
    const of = (redisson: Redisson): RLock => {
      const lock = redisson.getReadWriteLock(name)
      return side === 'read' ? lock.readLock() : lock.writeLock()
    }
    const brief = (internals = {}) => createRedisson({ lockWatchdogTimeout: WATCHDOG }, internals)

    beforeEach(async () => {
      redis = await openRedis()
      name = uniqueName('rw')
    })
    afterEach(closeAll)

    it('atlas B9: goes on for many leases, clocks and all', async () => {
      const hold = await of(await brief()).acquire()
      await sleep(1.8 * WATCHDOG)
      expect(hold.isHeld).to.equal(true)
      const { ttl, clocks } = await look(redis, name)
      expect(Math.min(ttl, ...Object.values(clocks))).to.be.greaterThan(0)
      await hold.unlock()
      await expectNothingLeft(redis, name)
    })

    it('atlas B1: survives a renewal that fails', async () => {
      let failures = 0
      const transport = tapped(async (sent) => {
        if (sent.name === RENEW[side] && failures++ < 1) throw new Error('LOADING not now')
        return await sent.pass()
      })
      const hold = await of(await brief({ transport })).acquire()
      await sleep(1.3 * WATCHDOG)
      expect(failures).to.be.greaterThan(1)
      expect(hold.isHeld).to.equal(true)
      await hold.unlock()
    })

    it('atlas B2: ends with the hold', async () => {
      const log = new ScriptLog()
      const lock = of(await brief({ transport: log.transport }))
      await lock.lock({ threadId: 1 })
      await lock.lock({ threadId: 1, leaseTime: 10_000 })
      await waitUntil('it was renewed', () => log.count(RENEW[side]) > 0)
      await lock.unlock({ threadId: 1 })
      await lock.unlock({ threadId: 1 })
      const renewed = log.count(RENEW[side])
      await sleep(0.7 * WATCHDOG)
      expect(log.count(RENEW[side])).to.equal(renewed)
      await expectNothingLeft(redis, name)
    })

    it('atlas B3: covers re-entered holds, until the outermost unlock', async () => {
      const lock = of(await brief())
      for (let i = 0; i < 3; i++) await lock.lock({ threadId: 1 })
      await sleep(1.2 * WATCHDOG)
      expect(Object.values((await look(redis, name)).fields)).to.deep.equal([3])
      await lock.unlock({ threadId: 1 })
      await lock.unlock({ threadId: 1 })
      await sleep(1.2 * WATCHDOG)
      expect(await lock.isHeldByThread(1)).to.equal(true)
      await lock.unlock({ threadId: 1 })
      await expectNothingLeft(redis, name)
    })

    it('atlas B4: one caller’s lease is not the next one’s', async () => {
      const lock = of(await createRedisson())
      await lock.lock({ threadId: 1, leaseTime: 2_000 })
      await lock.unlock({ threadId: 1 })
      await lock.lock({ threadId: 2 })
      expect(await lock.remainTimeToLive()).to.be.within(28_000, 30_000)
      await lock.lock({ threadId: 2, leaseTime: 1_000 })
      expect(await lock.remainTimeToLive(), 'an inner lease shortens nothing').to.be.greaterThan(28_000)
    })

    it('atlas B5: after a partial unlock the key has the lease of what is left', async () => {
      const lock = of(await createRedisson())
      await lock.lock({ threadId: 1, leaseTime: 5_000 })
      await lock.lock({ threadId: 1, leaseTime: 60_000 })
      await lock.unlock({ threadId: 1 })
      expect(await lock.remainTimeToLive()).to.be.within(4_000, 5_000)
    })

    it('is not confused by a longer lease on top that was given back late', async () => {
      const lock = of(await brief())
      await lock.lock({ threadId: 1 })
      const inner = await lock.acquire({ threadId: 1, leaseTime: 4 * WATCHDOG })
      await sleep(WATCHDOG)
      await inner.unlock()
      await sleep(WATCHDOG)
      expect(inner.signal.aborted).to.equal(false)
      expect(await lock.isHeldByThread(1)).to.equal(true)
      await lock.unlock({ threadId: 1 })
      await expectNothingLeft(redis, name)
    })

    it('does not spin under a longer lease on top', async () => {
      const log = new ScriptLog()
      const lock = of(await brief({ transport: log.transport }))
      await lock.lock({ threadId: 1 })
      await lock.lock({ threadId: 1, leaseTime: 60_000 })
      await sleep(1.2 * WATCHDOG)
      expect(log.count(RENEW[side])).to.be.within(1, 4)
      await lock.unlock({ threadId: 1 })
      await lock.unlock({ threadId: 1 })
      await expectNothingLeft(redis, name)
    })

    it('atlas C5: finds out that another client released the hold by force', async () => {
      const redisson = await brief()
      const lost: LockLostEvent[] = []
      redisson.on('lockLost', (event) => lost.push(event))
      const hold = await of(redisson).acquire()
      expect(await of(await createRedisson()).forceUnlock()).to.equal(true)
      await expectNothingLeft(redis, name)
      await waitUntil('the loss is noticed', () => hold.signal.aborted, 3 * WATCHDOG)
      expect(lost.map(({ lockName, reason }) => [lockName, reason])).to.deep.equal([[name, 'gone']])
      expect((await rejection(hold.unlock())).name).to.equal('LockLostError')
      await expectNothingLeft(redis, name)
    })
  })
}

describe('read-write lock: renewal of many read holds', () => {
  let redis: Redis
  beforeEach(async () => {
    redis = await openRedis()
  })
  afterEach(closeAll)

  it('atlas B12: lets the clock of a dead stranger run out', async () => {
    const name = uniqueName('rw')
    const redisson = await createRedisson({ lockWatchdogTimeout: WATCHDOG })
    const lock = redisson.getReadWriteLock(name)
    await lock.readLock().lock({ threadId: 1 })
    const dead = await new ForeignSide(redis, name).read(7, 500, 1_200)
    await waitUntil('both clocks ran out', async () => {
      const { clocks } = await look(redis, name)
      return Object.keys(clocks).every((clock) => !clock.startsWith(dead))
    })
    expect(await lock.readLock().isHeldByThread(1)).to.equal(true)
    await sleep(WATCHDOG)
    expect(await redis.exists(clockKey(name, dead, 1), clockKey(name, dead, 2))).to.equal(0)
    await lock.readLock().unlock({ threadId: 1 })
    await expectNothingLeft(redis, name)
  })

  it('takes batches of them, each with all its clocks', async () => {
    const log = new ScriptLog()
    const options = { lockWatchdogTimeout: WATCHDOG, lockWatchdogBatchSize: 3 }
    const redisson = await createRedisson(options, { transport: log.transport })
    const names = [1, 2, 3, 4].map(() => uniqueName('rw'))
    // Two holds a lock, of one level, two, three and four.
    for (const [i, name] of names.entries())
      for (let level = 0; level <= i; level++)
        for (const threadId of [1, 2]) await redisson.getReadWriteLock(name).readLock().lock({ threadId })
    // Until all are due at once.
    const due = performance.now() + 0.4 * WATCHDOG
    while (performance.now() < due);
    await sleep(WATCHDOG)
    for (const [i, name] of names.entries()) {
      const { mode, readers, clocks } = await shape(redis, name)
      expect({ mode, readers, clocks }).to.deep.equal({
        mode: 'read',
        readers: [i + 1, i + 1],
        clocks: 2 * (i + 1),
      })
      const standing = await look(redis, name)
      expect(Math.min(standing.ttl, ...Object.values(standing.clocks))).to.be.greaterThan(0)
    }
    const sizes = log.sent.filter((each) => each.name === 'read-lock/renew').map((each) => each.keys.length)
    expect(Math.max(...sizes)).to.equal(3)
    for (const [i, name] of names.entries())
      for (let level = 0; level <= i; level++)
        for (const threadId of [1, 2]) await redisson.getReadWriteLock(name).readLock().unlock({ threadId })
    for (const name of names) await expectNothingLeft(redis, name)
  })

  it('each answers for itself: a lost one takes nobody along', async () => {
    const redisson = await createRedisson({ lockWatchdogTimeout: WATCHDOG })
    const lost: string[] = []
    redisson.on('lockLost', ({ lockName }) => lost.push(lockName))
    const names = ['gone', 'a string', 'a list', 'alive', 'alive'].map((prefix) => uniqueName(prefix))
    const holds = await Promise.all(names.map((name) => redisson.getReadWriteLock(name).readLock().acquire()))
    const [gone, string, list] = names as [string, string, string]
    await redis.multi().del(gone, string, list).set(string, 'x').lpush(list, 'x').exec()
    await waitUntil('the losses are noticed', () => lost.length === 3, 3 * WATCHDOG)
    await sleep(WATCHDOG)
    expect(lost).to.have.members([gone, string, list])
    expect(holds.map((hold) => hold.isHeld)).to.deep.equal([false, false, false, true, true])
    await redis.del(string, list)
    for (const hold of holds.slice(3)) await hold.unlock()
  })

  it('does not revive a hold whose key is gone', async () => {
    const name = uniqueName('rw')
    const redisson = await createRedisson({ lockWatchdogTimeout: WATCHDOG })
    await redisson.getReadWriteLock(name).readLock().acquire()
    await redis.del(name)
    await sleep(1.1 * WATCHDOG)
    await expectNothingLeft(redis, name)
  })
})
