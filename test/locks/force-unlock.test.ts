import { expect } from 'chai'
import { closeAll, createRedisson, openRedis, uniqueName } from '../kit/clients'
import { ForeignLock } from '../kit/foreign-lock'
import { tapped } from '../kit/tapped-transport'

describe('forceUnlock() of a lock that changes hands', () => {
  afterEach(closeAll)

  it('forceUnlock() answers after one try, also where each holder has left before it', async () => {
    const redis = await openRedis()
    const name = uniqueName()
    let tries = 0
    const holder = new ForeignLock(redis, name)
    const transport = tapped(async (sent) => {
      if (sent.name === 'lock/force-release' && ++tries <= 50) {
        await redis.del(name)
        await redis.hset(name, `other:${tries}`, 1)
      }
      return await sent.pass()
    })
    const lock = (await createRedisson({}, { transport })).getLock(name)
    await holder.take(60_000)
    expect(await lock.forceUnlock()).to.equal(false)
    // A server that does not know the script yet gets it in a second copy.
    expect(tries).to.be.at.most(2)
    expect(await redis.hlen(name)).to.equal(1)
    tries = 50
    expect(await lock.forceUnlock()).to.equal(true)
    expect(await redis.exists(name)).to.equal(0)
  })
})
