import { expect } from 'chai'
import type { ClientInternals } from '../../src/client/client-internals'
import { script } from '../../src/scripts/script'
import { createRedisson, rejection } from '../kit/clients'
import { name, redis, redisAndName } from '../kit/each-test'
import { internalsOf } from '../kit/internals'
import { JumpingClock } from '../kit/jumping-clock'
import { openProxy } from '../kit/proxies'
import { waitUntil } from '../kit/servers/index'
import { defaultServer } from '../kit/stand-in'

describe('A latch whose client could not reach the server', () => {
  redisAndName()

  /** A latch of three behind a proxy; `loseReply` counts it down once, and the reply to that is lost. */
  async function open(internals: ClientInternals & { unavailableAfter?: number } = {}) {
    const proxy = await openProxy(await defaultServer())
    const redisson = await createRedisson({ redis: proxy.url }, internals)
    redisson.on('error', () => {})
    const latch = redisson.getCountDownLatch(name)
    await latch.trySetCount(3)
    const { sha } = script('count-down-latch/count-down', String)
    const loseReply = async () => {
      const lost = proxy.dropNextReply((words) => words[1] === sha)
      const counting = rejection(latch.countDown())
      await lost
      return { counting }
    }
    const settled = async () => {
      await waitUntil('the background has finished', () => internalsOf(redisson).orphans.size === 0)
      return await redis.get(name)
    }
    return { proxy, redisson, latch, loseReply, settled }
  }

  for (const isApplied of [true, false])
    it(`A countDown not sent, though it was ${isApplied ? '' : 'not '}applied, is retried and counts once`, async () => {
      const { proxy, latch, loseReply, settled } = await open({ unavailableAfter: 300 })
      await latch.countDown()
      if (isApplied) {
        const { counting } = await loseReply()
        proxy.breakOff()
        expect(await counting).to.have.property('code', 'REDIS_UNAVAILABLE')
      } else {
        proxy.breakOff()
        const error = await rejection(latch.countDown())
        expect(error).to.have.property('code', 'REDIS_UNAVAILABLE')
        expect(error.message).to.match(/Do not repeat the call: the client retries it in the background\.$/)
        expect(await redis.get(name)).to.equal('2')
      }
      await proxy.accept()
      expect(await settled()).to.equal('1')
    })

  for (const [what, stood, jumped] of [
    ['stood still for longer than the record lives', 62_000, 62_000],
    ['stood still, and whose wall clock stepped back', 62_000, -3_600_000],
  ] as const)
    it(`A countDown that was applied is not retried by a process that ${what} (V7)`, async () => {
      const clock = new JumpingClock()
      const { proxy, redisson, latch, loseReply, settled } = await open({ unavailableAfter: 300, clock })
      await latch.countDown()
      const { counting } = await loseReply()
      proxy.breakOff()
      Object.assign(clock, { stood, jumped })
      expect(await counting).to.have.property('code', 'REDIS_UNAVAILABLE')
      await redis.del(`rlock_requests:{${name}}:${redisson.getId()}`)
      await proxy.accept()
      expect(await settled()).to.equal('1')
    })

  it('A countDown never sent counts after a stop longer than the record lives (V106)', async () => {
    const clock = new JumpingClock()
    const { proxy, redisson, latch, settled } = await open({ unavailableAfter: 300, clock })
    proxy.breakOff()
    await waitUntil('the connection is gone', () => internalsOf(redisson).scripts.isServerAway)
    const counting = rejection(latch.countDown())
    Object.assign(clock, { stood: 62_000, jumped: 62_000 })
    expect((await counting).message).to.match(
      /Do not repeat the call: the client retries it in the background\.$/,
    )
    await proxy.accept()
    expect(await settled()).to.equal('2')
  })

  it('An applied countDown is not sent again by a process stopped between tries (V7)', async () => {
    const clock = new JumpingClock()
    const { proxy, redisson, latch, loseReply, settled } = await open({ clock })
    await latch.countDown()
    const after = clock.after.bind(clock)
    clock.after = (delay, callback) =>
      after(delay, () => {
        Object.assign(clock, { stood: 62_000, jumped: 62_000 })
        callback()
      })
    const { counting } = await loseReply()
    await redis.del(`rlock_requests:{${name}}:${redisson.getId()}`)
    proxy.cut()
    expect(await counting).to.have.property('code', 'REDIS_UNAVAILABLE')
    expect(await settled()).to.equal('1')
  })
})
