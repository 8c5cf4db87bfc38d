import { expect } from 'chai'
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

  for (const isApplied of [true, false])
    it(`A countDown not sent, though it was ${isApplied ? '' : 'not '}applied, is retried and counts once`, async () => {
      const proxy = await openProxy(await defaultServer())
      const redisson = await createRedisson({ redis: proxy.url }, { unavailableAfter: 300 })
      redisson.on('error', () => {})
      const latch = redisson.getCountDownLatch(name)
      await latch.trySetCount(3)
      await latch.countDown()
      const { sha } = script('count-down-latch/count-down', String)
      if (isApplied) {
        const lost = proxy.dropNextReply((words) => words[1] === sha)
        const counting = rejection(latch.countDown())
        await lost
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
      await waitUntil('the background has finished', () => internalsOf(redisson).orphans.size === 0)
      expect(await redis.get(name)).to.equal('1')
    })

  for (const [what, stood, jumped] of [
    ['stood still for longer than the record lives', 62_000, 62_000],
    ['stood still, and whose wall clock stepped back', 62_000, -3_600_000],
  ] as const)
    it(`A countDown that was applied is not retried by a process that ${what} (V7)`, async () => {
      const proxy = await openProxy(await defaultServer())
      const clock = new JumpingClock()
      const redisson = await createRedisson({ redis: proxy.url }, { unavailableAfter: 300, clock })
      redisson.on('error', () => {})
      const latch = redisson.getCountDownLatch(name)
      await latch.trySetCount(3)
      await latch.countDown()
      const { sha } = script('count-down-latch/count-down', String)
      const lost = proxy.dropNextReply((words) => words[1] === sha)
      const counting = rejection(latch.countDown())
      await lost
      proxy.breakOff()
      Object.assign(clock, { stood, jumped })
      expect(await counting).to.have.property('code', 'REDIS_UNAVAILABLE')
      await redis.del(`rlock_requests:{${name}}:${redisson.getId()}`)
      await proxy.accept()
      await waitUntil('the background has finished', () => internalsOf(redisson).orphans.size === 0)
      expect(await redis.get(name)).to.equal('1')
    })

  it('A countDown never sent counts after a stop longer than the record lives (V106)', async () => {
    const proxy = await openProxy(await defaultServer())
    const clock = new JumpingClock()
    const redisson = await createRedisson({ redis: proxy.url }, { unavailableAfter: 300, clock })
    redisson.on('error', () => {})
    const latch = redisson.getCountDownLatch(name)
    await latch.trySetCount(3)
    proxy.breakOff()
    await waitUntil('the connection is gone', () => internalsOf(redisson).scripts.isServerAway)
    const counting = rejection(latch.countDown())
    Object.assign(clock, { stood: 62_000, jumped: 62_000 })
    expect((await counting).message).to.match(
      /Do not repeat the call: the client retries it in the background\.$/,
    )
    await proxy.accept()
    await waitUntil('the background has finished', () => internalsOf(redisson).orphans.size === 0)
    expect(await redis.get(name)).to.equal('2')
  })

  it('An applied countDown is not sent again by a process stopped between tries (V7)', async () => {
    const proxy = await openProxy(await defaultServer())
    const clock = new JumpingClock()
    const redisson = await createRedisson({ redis: proxy.url }, { clock })
    redisson.on('error', () => {})
    const latch = redisson.getCountDownLatch(name)
    await latch.trySetCount(3)
    await latch.countDown()
    const { sha } = script('count-down-latch/count-down', String)
    const after = clock.after.bind(clock)
    clock.after = (delay, callback) =>
      after(delay, () => {
        Object.assign(clock, { stood: 62_000, jumped: 62_000 })
        callback()
      })
    const lost = proxy.dropNextReply((words) => words[1] === sha)
    const counting = rejection(latch.countDown())
    await lost
    await redis.del(`rlock_requests:{${name}}:${redisson.getId()}`)
    proxy.cut()
    expect(await counting).to.have.property('code', 'REDIS_UNAVAILABLE')
    await waitUntil('the background has finished', () => internalsOf(redisson).orphans.size === 0)
    expect(await redis.get(name)).to.equal('1')
  })
})
