import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { closeAll, createRedisson, openRedis, uniqueName } from '../kit/clients'
import { waitUntil } from '../kit/servers/index'
import { latch, type ScriptSent, tapped } from '../kit/tapped-transport'

describe('A forced release beside a call in flight', () => {
  afterEach(closeAll)

  async function untilListening(clients: number) {
    const redis = await openRedis()
    const heard = async () => ((await redis.pubsub('NUMSUB', 'rlock:inspect')) as unknown[])[1]
    await waitUntil('they listen', async () => (await heard()) === clients)
  }

  /** The answers to these scripts come when the latch is opened. */
  function late(isLate: (sent: ScriptSent) => boolean) {
    const arrives = latch()
    const applied = latch()
    const transport = tapped(async (sent) => {
      const answer = await sent.pass()
      if (!isLate(sent)) return answer
      applied.open()
      await arrives.opened
      return answer
    })
    return { arrives, applied, transport }
  }

  it('before the grant has arrived: the holder with a leaseTime is told soon after it (V154)', async () => {
    const { arrives, applied, transport } = late(({ name }) => name === 'lock/acquire')
    const [own, other] = [await createRedisson({}, { transport }), await createRedisson()]
    await untilListening(2)
    const name = uniqueName('forced')
    const acquiring = own.getLock(name).acquire({ leaseTime: 60_000 })
    await applied.opened
    const lock = other.getLock(name)
    expect(await lock.forceUnlock()).to.equal(true)
    await lock.lock()
    // The message that asks to look arrives in order, before this one.
    await sleep(200)
    arrives.open()
    const { signal } = await acquiring
    if (!signal.aborted) await once(signal, 'abort')
    await lock.unlock()
  })

  it('behind an unlock(): a hold that was released is not lost (V155)', async () => {
    const go = latch()
    const sent = latch()
    const transport = tapped(async (each) => {
      if (each.name !== 'read-lock/force-release') return await each.pass()
      sent.open()
      await go.opened
      return await each.pass()
    })
    const redisson = await createRedisson({}, { transport })
    const lost: unknown[] = []
    redisson.on('lockLost', ({ threadId }) => lost.push(threadId))
    const lock = redisson.getReadWriteLock(uniqueName('forced')).readLock()
    const [released, stays] = [await lock.acquire(), await lock.acquire()]
    const forcing = lock.forceUnlock()
    await sent.opened
    const releasing = released.unlock()
    go.open()
    await Promise.all([forcing, releasing])
    expect(released.signal.aborted).to.equal(false)
    expect(lost).to.deep.equal([stays.threadId])
  })

  for (const [who, leaseTime] of [
    ['a leaseTime (V156)', 60_000],
    ['the watchdog (V163)', undefined],
  ] as const)
    it(`beside the look after another one: the holder with ${who} is told`, async () => {
      const looks: string[] = []
      const { arrives, applied, transport } = late(
        ({ name }) => name === 'lock/renew' && looks.push(name) === 1,
      )
      const [own, other] = [
        await createRedisson({ lockWatchdogTimeout: 60_000 }, { transport }),
        await createRedisson(),
      ]
      await untilListening(2)
      const name = uniqueName('forced')
      const { signal } = await own.getLock(name).acquire({ leaseTime })
      const redis = await openRedis()
      await redis.publish('rlock:inspect', JSON.stringify({ v: 1, look: [name] }))
      await applied.opened
      await other.getLock(name).forceUnlock()
      await sleep(200)
      arrives.open()
      if (!signal.aborted) await once(signal, 'abort', { signal: AbortSignal.timeout(10_000) })
    })
})
