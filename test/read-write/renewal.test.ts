import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { createRedisson, uniqueName } from '../kit/clients'
import { name, redis, redisAndName } from '../kit/each-test'
import { expectNothingLeft, ForeignSide, look, readTimeoutKey, shape } from '../kit/read-write/state'
import { SentScripts } from '../kit/sent-scripts'
import { waitUntil } from '../kit/servers/index'

const WATCHDOG = 900

describe('Renewal of many read holds', () => {
  redisAndName()

  it('Renewal lets the read timeout key of a dead reader of another client expire (B12)', async () => {
    const redisson = await createRedisson({ lockWatchdogTimeout: WATCHDOG })
    const lock = redisson.getReadWriteLock(name)
    await lock.readLock().lock({ threadId: 1 })
    const dead = await new ForeignSide(redis, name).read(7, 500, 1_200)
    await waitUntil('both read timeout keys ran out', async () => {
      const { readTimeouts } = await look(redis, name)
      return Object.keys(readTimeouts).every((key) => !key.startsWith(dead))
    })
    expect(await lock.readLock().isHeldByThread(1)).to.equal(true)
    await sleep(WATCHDOG)
    expect(await redis.exists(readTimeoutKey(name, dead, 1), readTimeoutKey(name, dead, 2))).to.equal(0)
    await lock.readLock().unlock({ threadId: 1 })
    await expectNothingLeft(redis, name)
  })

  it('Read holds are renewed in batches, each hold with all its read timeout keys', async () => {
    const log = new SentScripts()
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
      const { mode, readers, readTimeouts } = await shape(redis, name)
      expect({ mode, readers, readTimeouts }).to.deep.equal({
        mode: 'read',
        readers: [i + 1, i + 1],
        readTimeouts: 2 * (i + 1),
      })
      const standing = await look(redis, name)
      expect(Math.min(standing.ttl, ...Object.values(standing.readTimeouts))).to.be.greaterThan(0)
    }
    const sizes = log.sent.filter((each) => each.name === 'read-lock/renew').map((each) => each.keys.length)
    expect(Math.max(...sizes)).to.equal(3)
    for (const [i, name] of names.entries())
      for (let level = 0; level <= i; level++)
        for (const threadId of [1, 2]) await redisson.getReadWriteLock(name).readLock().unlock({ threadId })
    for (const name of names) await expectNothingLeft(redis, name)
  })
})
