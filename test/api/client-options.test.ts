import { expect } from 'chai'
import { Redis } from 'ioredis'
import { Redisson } from '../../src/index'
import { sharedStandalone } from '../servers'
import { closeAll, createRedisson, openRedis, rejection, uniqueName } from '../support/clients'

describe('Redisson.create', () => {
  afterEach(closeAll)

  it('gives every client an id of its own, a UUID', async () => {
    const [one, other] = [await createRedisson(), await createRedisson()]
    expect(one.getId()).to.match(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    expect(one.getId()).to.not.equal(other.getId())
  })

  it('refuses options that make no sense before it connects', async () => {
    const { url } = await sharedStandalone()
    const refused: [unknown, ErrorConstructor, RegExp?][] = [
      [undefined, TypeError],
      [null, TypeError],
      [url, TypeError],
      [{}, TypeError, /redis/],
      [{ redis: null }, TypeError],
      [{ redis: 6379 }, TypeError],
      [{ redis: '' }, TypeError],
      [{ redis: 'http://localhost' }, TypeError],
      [{ redis: { nodes: [] } }, TypeError],
      [{ redis: { sentinels: [{ port: 1 }] } }, TypeError, /name/],
      [{ redis: { keyPrefix: 'x:' } }, TypeError, /nameMapper/],
      [{ redis: url, lockWatchDogTimeout: 5 }, TypeError, /lockWatchDogTimeout/],
      [{ redis: url, nameMapper: {} }, TypeError],
      [{ redis: url, nameMapper: (name: string) => name }, TypeError],
      [{ redis: url, shardedSubscriptionMode: 'auto' }, TypeError],
      [{ redis: url, checkLockSyncedSlaves: 1 }, TypeError],
    ]
    for (const option of ['lockWatchdogTimeout', 'lockWatchdogBatchSize', 'slavesSyncTimeout']) {
      for (const value of [0, -1, Number.NaN, Infinity, 2 ** 53])
        refused.push([{ redis: url, [option]: value }, RangeError, new RegExp(option)])
      for (const value of ['5', null, 5n, {}])
        refused.push([{ redis: url, [option]: value }, TypeError, new RegExp(option)])
    }
    for (const [options, type, message] of refused) {
      const error = await rejection(Redisson.create(options as never))
      expect(error, error.message).to.be.instanceOf(type)
      if (message) expect(error.message).to.match(message)
    }
  })

  it("refuses a caller's instance with a keyPrefix, and leaves it alone", async () => {
    const theirs = new Redis((await sharedStandalone()).url, { keyPrefix: 'x:', lazyConnect: true })
    expect((await rejection(Redisson.create({ redis: theirs }))).message).to.match(/nameMapper/)
    expect(theirs.status).to.equal('wait')
    theirs.disconnect()
  })

  it('takes the watchdog lease from lockWatchdogTimeout', async () => {
    const redis = await openRedis()
    const redisson = await createRedisson({ lockWatchdogTimeout: 300_000.5 })
    const hold = await redisson.getLock(uniqueName('options')).acquire()
    expect(await redis.pttl(hold.lockName)).to.be.within(200_000, 300_001)
    await hold.unlock()
  })

  it('can be disposed of', async () => {
    const name = uniqueName('options')
    {
      await using redisson = await Redisson.create({ redis: (await sharedStandalone()).url })
      await redisson.getLock(name).withLock(() => {})
    }
    const redisson = await createRedisson()
    await redisson.shutdown()
    await redisson.shutdown()
    expect((await rejection(redisson.getLock(name).lock())).code).to.equal('REDISSON_SHUTDOWN')
  })
})
