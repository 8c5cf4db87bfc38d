import { expect } from 'chai'
import { createRedisson, openRedis, uniqueName } from '../kit/clients'
import { ForeignLock } from '../kit/foreign-lock'
import { waitUntil } from '../kit/servers/index'
import { asleep } from '../kit/sleepers'
import { tapped } from '../kit/tapped-transport'

describe('A late copy of an old command', () => {
  /** A client that keeps a second copy of everything it sends. */
  async function copying() {
    const copies: { name: string; send: () => Promise<unknown> }[] = []
    const transport = tapped((sent) => {
      if (!sent.bySource) copies.push({ name: sent.name, send: sent.pass })
      return sent.pass()
    })
    const redisson = await createRedisson({}, { transport })
    return { redisson, copies }
  }

  it('A late copy without a fence makes no second holder, and ends with one lease', async () => {
    const kept: (() => Promise<unknown>)[] = []
    const transport = tapped((sent) => {
      if (sent.name !== 'lock/acquire' || sent.bySource || kept.length > 0) return sent.pass()
      kept.push(sent.pass)
      return Promise.reject(new Error('Connection is closed.'))
    })
    const redis = await openRedis()
    const foreign = new ForeignLock(redis, uniqueName())
    await foreign.take(60_000)
    const redisson = await createRedisson({ lockWatchdogTimeout: 2_000 }, { transport })
    const acquiring = redisson.getLock(foreign.name).acquire()
    await asleep(redisson, `lock ${foreign.name}`)
    await foreign.release()
    await (await acquiring).unlock()
    expect(await kept[0]!()).to.equal(null)
    expect(await redis.exists(foreign.name)).to.equal(1)
    expect(await redisson.getLock(foreign.name).tryLock()).to.equal(false)
    await waitUntil('its lease is over', async () => (await redis.exists(foreign.name)) === 0)
    await (await redisson.getLock(foreign.name).acquire()).unlock()
  })

  it('Late copies in every order leave the hold count right in the end (guarantee 4)', async () => {
    const { redisson, copies } = await copying()
    const redis = await openRedis()
    const lock = redisson.getLock(uniqueName())
    await redisson.run(async () => {
      await lock.lock()
      await lock.lock()
      await lock.unlock()
      // Acquire, re-entry and partial release, once more and in every order.
      const [acquire, reenter, release] = copies as [Copy, Copy, Copy]
      for (const copy of [reenter, acquire, release, reenter, release, acquire, reenter]) await copy.send()
      expect(await lock.isHeldByCurrentThread()).to.equal(true)
      await lock.lock()
      expect(await lock.getHoldCount()).to.equal(2)
      await release.send()
      await lock.unlock()
      expect(await lock.getHoldCount()).to.equal(1)
      await reenter.send()
      await lock.unlock()
    })
    expect(await redis.exists(lock.getName())).to.equal(0)
  })

  type Copy = { name: string; send: () => Promise<unknown> }
})
