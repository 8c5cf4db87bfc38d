import { expect } from 'chai'
import { type Clock, systemClock } from '../../src/util/clock'
import { createRedisson, rejection, uniqueName } from '../kit/clients'
import { redis, redisAndName } from '../kit/each-test'
import { ownServer, waitUntil } from '../kit/servers/index'
import { tapped } from '../kit/tapped-transport'

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
