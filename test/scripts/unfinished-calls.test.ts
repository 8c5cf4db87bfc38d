import { expect } from 'chai'
import { type Clock, systemClock } from '../../src/util/clock'
import { createRedisson, rejection, uniqueName } from '../kit/clients'
import { redis, redisAndName } from '../kit/each-test'
import { ownServer, waitUntil } from '../kit/servers/index'
import { latch, tapped } from '../kit/tapped-transport'

/** How long a PING may take, in ms (health-check.ts). */
const PING_TIMEOUT = 3_000

/** The system's clock, which says when a PING was given up. */
class PingClock implements Clock {
  readonly now = systemClock.now
  readonly elapsedSince = systemClock.elapsedSince
  private givenUp: () => void = () => {}
  readonly pingIsOver = new Promise<void>((resolve) => {
    this.givenUp = resolve
  })

  after(delay: number, callback: () => void) {
    return systemClock.after(delay, () => {
      callback()
      if (delay === PING_TIMEOUT) this.givenUp()
    })
  }
}

describe('A call that its caller has given up', () => {
  const server = ownServer()

  redisAndName('test', { server })
  afterEach(() => server.resume())

  it('A silent connection is cut though its call was given up, and the grant is released', async () => {
    const clock = new PingClock()
    const redisson = await createRedisson(
      { redis: server.url, unavailableAfter: 300 },
      { silentAfter: 600, clock },
    )
    const lock = redisson.getLock(uniqueName())
    await lock.withLock(() => {})
    const connections = async () => {
      const list = (await redis.client('LIST')) as string
      const own = list.split('\n').filter((line) => line.includes(`name=rlock:${redisson.getId()}`))
      return own.map((line) => /^id=(\d+)/.exec(line)![1])
    }
    const before = await connections()
    await server.pause()
    expect((await rejection(lock.lock())).code).to.equal('REDIS_UNAVAILABLE')
    await clock.pingIsOver
    await server.resume()
    await waitUntil('nothing is being released', () => redisson.stats().releasing === 0)
    expect(await connections()).to.not.include.members(before)
    expect(await redis.exists(lock.getName())).to.equal(0)
    await lock.withLock(() => {})
  })

  it('A call that was given up is not sent once more by its source (V215)', async () => {
    const givenUp = latch()
    const sent: boolean[] = []
    const transport = tapped(async ({ name, bySource, pass }) => {
      if (name !== 'fair-lock/acquire') return await pass()
      sent.push(bySource)
      if (bySource) return await pass()
      await givenUp.opened
      throw new Error('NOSCRIPT No matching script.')
    })
    const redisson = await createRedisson({ redis: server.url, unavailableAfter: 300 }, { transport })
    const lock = redisson.getFairLock(uniqueName())
    expect((await rejection(lock.lock())).code).to.equal('REDIS_UNAVAILABLE')
    givenUp.open()
    await waitUntil('nothing is being released', () => redisson.stats().releasing === 0)
    expect(sent).to.deep.equal([false])
    expect(redisson.stats().inFlight).to.equal(0)
  })

  it('An answer of no script ends a call with an error, and its grant is released', async () => {
    let isGarbled = true
    const transport = tapped(async ({ name, pass }) => {
      const answer = await pass()
      return name === 'fair-lock/acquire' && isGarbled ? 5 : answer
    })
    const redisson = await createRedisson({ redis: server.url }, { transport })
    const lock = redisson.getFairLock(uniqueName())
    expect((await rejection(lock.lock())).code).to.equal('REDIS_UNAVAILABLE')
    isGarbled = false
    await waitUntil('nothing is being released', () => redisson.stats().releasing === 0)
    expect(await redis.exists(lock.getName())).to.equal(0)
    await lock.withLock(() => {})
  })
})
