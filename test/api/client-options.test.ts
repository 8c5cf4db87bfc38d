import { expect } from 'chai'
import { Redisson } from '../../src/index'
import { closeAll, createRedisson, openRedis, rejection, uniqueName } from '../kit/clients'
import { sharedStandalone } from '../kit/servers/index'

describe('Redisson.create', () => {
  afterEach(closeAll)

  it('Redisson.create gives every client an id of its own, a UUID of another version than those of Java', async () => {
    const [one, other] = [await createRedisson(), await createRedisson()]
    expect(one.getId()).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/)
    expect(one.getId()).to.not.equal(other.getId())
  })

  it('Redisson.create takes the watchdog lease from lockWatchdogTimeout', async () => {
    const redis = await openRedis()
    const redisson = await createRedisson({ lockWatchdogTimeout: 300_000.5 })
    const hold = await redisson.getLock(uniqueName('options')).acquire()
    expect(await redis.pttl(hold.lockName)).to.be.within(200_000, 300_001)
    await hold.unlock()
  })

  it('Redisson.create can be disposed of', async () => {
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
