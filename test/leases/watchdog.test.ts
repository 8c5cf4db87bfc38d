import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { createRedisson, uniqueName } from '../kit/clients'
import { name, redis, redisAndName } from '../kit/each-test'
import { eventsOf } from '../kit/observing'
import { ownServer } from '../kit/servers/index'
import { type ScriptCounter, tapped } from '../kit/tapped-transport'

const WATCHDOG = 900

describe('the watchdog', () => {
  const server = ownServer()

  redisAndName('test', { server })

  const create = (transport?: ScriptCounter['transport'], lockWatchdogTimeout = WATCHDOG) =>
    createRedisson({ redis: server.url, lockWatchdogTimeout }, transport ? { transport } : {})

  it('The watchdog renews a hold answered late before holds answered sooner', async () => {
    const redisson = await create(
      tapped(({ name: script, keys, pass }) => {
        const answer = pass()
        if (script !== 'lock/acquire' || keys[0] !== name) return answer
        return answer.then((value) => sleep(2_000, value))
      }),
      3_000,
    )
    const lost = eventsOf(redisson, 'lockLost')
    const late = redisson.getLock(name).acquire()
    await sleep(1_800)
    const sooner = await redisson.getLock(uniqueName()).acquire()
    const hold = await late
    await sleep(1_500)
    expect([hold.isHeld, sooner.isHeld, lost]).to.deep.equal([true, true, []])
    await Promise.all([hold.unlock(), sooner.unlock()])
  })

  it('The watchdog renews thousands of locks in batches, and blocks no event loop (B6)', async () => {
    const COUNT = 5_000
    const sizes: number[] = []
    const transport = tapped((sent) => {
      if (sent.name === 'lock/renew') sizes.push(sent.keys.length)
      return sent.pass()
    })
    const redisson = await create(transport, 4_000)
    const prefix = uniqueName()
    const holds = await Promise.all(
      Array.from({ length: COUNT }, (_, index) => redisson.getLock(`${prefix}:${index}`).acquire()),
    )
    const delay = monitorEventLoopDelay({ resolution: 10 })
    delay.enable()
    await sleep(5_000)
    delay.disable()
    expect(delay.max / 1e6).to.be.lessThan(500)
    expect(Math.max(...sizes)).to.be.at.most(100)
    // Three rounds and a bit; one by one it would be a call a lock and round.
    expect(sizes.length).to.be.within((3 * COUNT) / 100, COUNT / 4)
    expect(sizes.reduce((sum, size) => sum + size)).to.be.at.least(3 * COUNT)
    expect(holds.every((hold) => hold.isHeld)).to.equal(true)
    expect(await redis.exists(...holds.map((hold) => hold.lockName))).to.equal(COUNT)
    await Promise.all(holds.map((hold) => hold.unlock()))
    expect(await redis.exists(...holds.map((hold) => hold.lockName))).to.equal(0)
  })

  it('The watchdog renews a hold that follows and meets many tries of its client', async () => {
    const redisson = await create(undefined, 300)
    const lock = redisson.getLock(name)
    const caller = () =>
      redisson.run(async () => {
        if (await lock.tryLock()) await lock.unlock()
      })
    const crowd = () => Promise.all(Array.from({ length: 16 }, caller))
    for (let round = 0; round < 50; round++) await crowd()
    const hold = await lock.acquire()
    const end = performance.now() + 900
    while (performance.now() < end) await crowd()
    await hold.unlock()
    expect(await lock.isLocked()).to.equal(false)
  })
})
