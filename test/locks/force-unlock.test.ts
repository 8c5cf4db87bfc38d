import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { Redisson } from '../../src/index'
import { lockChannel } from '../../src/locks/hash-lock-kind'
import { createRedisson, openRedis, uniqueName } from '../kit/clients'
import { ForeignLock } from '../kit/foreign-lock'
import { internalsOf } from '../kit/internals'
import { waitUntil } from '../kit/servers/index'
import { tapped } from '../kit/tapped-transport'

describe('forceUnlock() of a lock that changes hands', () => {
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

  it('A forceUnlock() that frees nothing leaves other processes their turns (guarantee 3)', async () => {
    const name = uniqueName()
    // Meanwhile its callers hand the lock on, so that the holder that it saw has left.
    const transport = tapped(async (sent) => {
      if (sent.name === 'lock/force-release') await sleep(20)
      return await sent.pass()
    })
    const [busy, other] = await Promise.all([createRedisson({}, { transport }), createRedisson()])
    let isOver = false
    const sections = async (client: Redisson) => {
      const lock = client.getLock(name)
      for (let count = 0; ; count++) {
        if (isOver) return count
        await lock.withLock(() => sleep(1))
      }
    }
    const callers = Array.from({ length: 8 }, () => sections(busy))
    await waitUntil('they wait', () => internalsOf(busy).subscriptions.isConfirmed(lockChannel(name)))
    expect(await busy.getLock(name).forceUnlock()).to.equal(false)
    const others = sections(other)
    await sleep(1_000)
    isOver = true
    await Promise.all(callers)
    expect(await others).to.be.above(10)
  })
})
