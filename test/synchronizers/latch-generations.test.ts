import { execFileSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { RCountDownLatch } from '../../src/index'
import { closeAll, createRedisson, openRedis, uniqueName } from '../kit/clients'
import { stillPending } from '../kit/observing'
import { closeProxies, openProxy } from '../kit/proxies'
import { SentScripts } from '../kit/sent-scripts'
import { sharedStandalone, waitUntil } from '../kit/servers/index'
import { asleep } from '../kit/sleepers'
import { defaultServer } from '../kit/stand-in'
import { latch as newGate, tapped } from '../kit/tapped-transport'

/** A process that sets a latch. */
const SET = `
  const redis = new (require('ioredis').Redis)(Number(process.argv[1]))
  redis.set(process.argv[2], '1').then(() => redis.disconnect())
`
const channelOf = (name: string) => `redisson_countdownlatch__channel__{${name}}`

describe('A latch that is set anew', () => {
  afterEach(async () => {
    await closeAll()
    await closeProxies()
  })

  for (const [what, back] of [
    ['set back', 60_000],
    ['replaced by one that is behind', 150],
  ] as const)
    it(`No waiter of a latch goes on early because the clock of the server is ${what} (V44)`, async () => {
      const name = uniqueName('latch')
      const other = (await createRedisson()).getCountDownLatch(name)
      let behind = 0
      const transport = tapped(async (sent) => {
        const reply = await sent.pass()
        if (sent.name !== 'count-down-latch/get-count') return reply
        const [count, opened, ago] = reply as [number, string, number]
        return [count, opened, ago - behind * 1000]
      })
      const redisson = await createRedisson({}, { transport })
      const latch = redisson.getCountDownLatch(name)
      await other.trySetCount(1)
      await other.countDown()
      await other.trySetCount(1)
      await sleep(50)
      const waiting = Promise.all(Array.from({ length: 3 }, () => latch.await()))
      await asleep(redisson, `latch ${name}`, 3)
      await sleep(200)
      behind = back
      await (await openRedis()).publish(channelOf(name), '1')
      expect(await stillPending(waiting)).to.equal(true)
      await other.countDown()
      await waiting
    })

  it('No caller of a latch goes on early that came right after it was opened and set anew (V44)', async () => {
    const redisson = await createRedisson()
    for (let round = 0; round < 50; round++) {
      const latch = redisson.getCountDownLatch(uniqueName('latch'))
      await latch.trySetCount(1)
      await Promise.all([latch.countDown(), latch.trySetCount(1)])
      expect(await latch.await(20)).to.equal(false)
    }
  })

  it('No caller of a latch goes on early that came before its client heard that it is subscribed (V44)', async () => {
    const name = uniqueName('latch')
    const proxy = await openProxy(await defaultServer())
    const latch = (await createRedisson({ redis: proxy.url })).getCountDownLatch(name)
    const other = (await createRedisson()).getCountDownLatch(name)
    const redis = await openRedis()
    await other.trySetCount(1)
    await latch.getCount()
    proxy.delay(200)
    const early = latch.await()
    await waitUntil('it is subscribed', async () => (await redis.pubsub('NUMSUB', channelOf(name)))[1] === 1)
    await Promise.all([other.countDown(), other.trySetCount(1)])
    const late = latch.await()
    await early
    expect(await stillPending(late)).to.equal(true)
    await other.countDown()
    await late
  })

  it('A look answers for no caller that came after the server had answered it, in the same tick (V183)', async () => {
    const { port } = await sharedStandalone()
    const latch = (await createRedisson()).getCountDownLatch(uniqueName('latch'))
    await latch.getCount()
    const first = latch.await()
    // The look is on its way. Node stands still until another process has set the latch.
    execFileSync(process.execPath, ['-e', SET, `${port}`, latch.getName()])
    const second = latch.await(300)
    expect([await first, await second]).to.deep.equal([undefined, false])
    await latch.countDown()
  })

  it('A higher count does not count as a new generation in an answer that comes late, as of another node (V186)', async () => {
    const [sent, answered] = [newGate(), newGate()]
    let looks = 0
    const transport = tapped(async (script) => {
      const answer = await script.pass()
      if (script.name !== 'count-down-latch/get-count' || script.bySource || ++looks !== 1) return answer
      sent.open()
      await answered.opened
      return answer
    })
    const redisson = await createRedisson({}, { transport })
    const other = (await createRedisson()).getCountDownLatch(uniqueName('latch'))
    const latch = redisson.getCountDownLatch(other.getName())
    await other.trySetCount(3)
    looks = 10
    await latch.getCount()
    const first = latch.await(5_000)
    await asleep(redisson, `latch ${latch.getName()}`)
    looks = 0
    const behind = latch.await(1_500)
    await sent.opened
    await other.countDown()
    const publish = async () => (await openRedis()).publish(channelOf(latch.getName()), '1')
    await publish()
    await sleep(100)
    answered.open()
    await sleep(50)
    await publish()
    expect(await behind).to.equal(false)
    await other.delete()
    await first
  })

  it('A caller behind another one that opens the latch, and sets it anew in the same tick, goes on (V151)', async () => {
    const scripts = new SentScripts()
    const redisson = await createRedisson({}, { transport: scripts.transport })
    const latch = redisson.getCountDownLatch(uniqueName('latch'))
    await latch.trySetCount(1)
    const before = latch.await(5_000)
    await asleep(redisson, `latch ${latch.getName()}`)
    const { length } = scripts.sent
    const single = latch.await(0)
    const behind = latch.await(5_000)
    const changes = [latch.countDown(), latch.trySetCount(1)]
    const [first, second] = scripts.sent.slice(length)
    // Only an answer from before the opening shows for certain that the caller came before it.
    expect([first?.name, second?.name]).to.deep.equal([
      'count-down-latch/get-count',
      'count-down-latch/count-down',
    ])
    await Promise.all(changes)
    expect([await single, await before, await behind]).to.deep.equal([false, true, true])
  })

  for (const [what, open] of [
    ['countDown() opens (V151)', (gate: RCountDownLatch) => gate.countDown()],
    ['delete() opens (V162)', (gate: RCountDownLatch) => gate.delete()],
  ] as const)
    it(`A caller goes on for whom its own client's ${what} the latch, although neither a look nor a message tells it`, async () => {
      const answers = newGate()
      let isSlow = false
      const transport = tapped(async (sent) => {
        const answer = await sent.pass()
        if (isSlow && sent.name === 'count-down-latch/get-count') await answers.opened
        return answer
      })
      const redisson = await createRedisson({}, { transport })
      const gate = redisson.getCountDownLatch(uniqueName('latch'))
      await gate.trySetCount(1)
      const before = gate.await(3_000)
      await asleep(redisson, `latch ${gate.getName()}`)
      isSlow = true
      const behind = gate.await(3_000)
      await Promise.all([open(gate), gate.trySetCount(1)])
      expect([await before, await behind]).to.deep.equal([true, true])
      answers.open()
    })

  it('A look that finds a latch open lets all callers go that came before it, although nothing says when it was opened (V151)', async () => {
    const redisson = await createRedisson()
    const latch = redisson.getCountDownLatch(uniqueName('latch'))
    await latch.trySetCount(1)
    const before = latch.await(2_000)
    await asleep(redisson, `latch ${latch.getName()}`)
    // Without a message, and without the record of an opening.
    await (await openRedis()).del(latch.getName())
    const behind = latch.await(2_000)
    expect(await latch.trySetCount(1)).to.equal(true)
    expect([await behind, await before]).to.deep.equal([true, true])
  })
})
