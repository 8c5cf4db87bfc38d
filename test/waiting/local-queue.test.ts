import { getEventListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { Redis } from 'ioredis'
import { type Standalone, startStandalone, waitUntil } from '../servers'
import { closeAll, createRedisson, openRedis, rejection, uniqueName } from '../support/clients'
import { ForeignLock } from '../support/foreign-lock'
import { ScriptCounter } from '../support/tapped-transport'

const LEASE = 60_000

describe('the waiters of one process', () => {
  let server: Standalone
  let redis: Redis

  // Commands are counted here, so nobody else may send any.
  before(async () => {
    server = await startStandalone()
  })

  after(() => server.stop())

  beforeEach(async () => {
    redis = await openRedis(server.url)
  })

  afterEach(closeAll)

  async function foreignLock() {
    const foreign = new ForeignLock(redis, uniqueName())
    await foreign.take(LEASE)
    return foreign
  }

  /** Calls so far by command, without those by which we look. */
  async function commandCalls(): Promise<Map<string, number>> {
    const text = await redis.info('commandstats')
    const calls = [...text.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)]
    return new Map(
      calls.filter(([, name]) => !/^(info|pubsub)/.test(name!)).map(([, name, n]) => [name!, Number(n)]),
    )
  }

  async function commandsDuring(work: () => Promise<unknown>): Promise<Record<string, number>> {
    const before = await commandCalls()
    await work()
    const after = await commandCalls()
    const sent = [...after].map(([name, calls]) => [name, calls - (before.get(name) ?? 0)] as const)
    return Object.fromEntries(sent.filter(([, calls]) => calls > 0))
  }

  it('guarantee 3: are served first come, first served, through whichever lock object they came', async () => {
    const foreign = await foreignLock()
    const redisson = await createRedisson({ redis: server.url })
    const order: number[] = []
    const waiting = Array.from({ length: 50 }, async (_, index) => {
      const hold = await redisson.getLock(foreign.name).acquire()
      order.push(index)
      await hold.unlock()
    })
    await foreign.release()
    await Promise.all(waiting)
    expect(order).to.deep.equal(Array.from({ length: 50 }, (_, index) => index))
  })

  it('guarantee 2: cost Redis nothing while they wait, a PING now and then apart', async () => {
    const foreign = await foreignLock()
    const redisson = await createRedisson({ redis: server.url })
    const enough = new AbortController()
    const waiting = Array.from({ length: 1_000 }, () =>
      redisson.getLock(foreign.name).lock({ signal: enough.signal }),
    )
    await waitUntil('they wait', async () => (await foreign.listeners()) === 1)
    await sleep(200)
    const { ping = 0, ...others } = await commandsDuring(() => sleep(1_200))
    expect(others).to.deep.equal({})
    expect(ping).to.be.at.most(1)
    enough.abort(new Error('enough'))
    const outcomes = await Promise.allSettled(waiting)
    expect(outcomes.every((outcome) => outcome.status === 'rejected')).to.equal(true)
  })

  it('atlas A12: send one attempt a message, not one each', async () => {
    const foreign = await foreignLock()
    const scripts = new ScriptCounter()
    const redisson = await createRedisson({ redis: server.url }, { transport: scripts.transport })
    const lock = redisson.getLock(foreign.name)
    const enough = new AbortController()
    const waiting = Array.from({ length: 100 }, () => lock.lock({ signal: enough.signal }).catch(() => {}))
    await waitUntil('they wait', async () => (await foreign.listeners()) === 1)
    await sleep(200)
    const before = scripts.of('lock/acquire')
    for (let message = 1; message <= 10; message++) {
      await redis.publish(foreign.channel, '0')
      await waitUntil('the first looks', () => scripts.of('lock/acquire') >= before + message)
    }
    await sleep(200)
    expect(scripts.of('lock/acquire') - before).to.equal(10)
    enough.abort()
    await Promise.all(waiting)
  })

  it('atlas A12: hand a lock from one to the next by one command', async () => {
    const foreign = await foreignLock()
    const redisson = await createRedisson({ redis: server.url })
    const waiting = Array.from({ length: 100 }, () => redisson.getLock(foreign.name).withLock(() => {}))
    await waitUntil('they wait', async () => (await foreign.listeners()) === 1)
    await sleep(200)
    const { evalsha = 0 } = await commandsDuring(async () => {
      await foreign.release()
      await Promise.all(waiting)
    })
    // A turn of some 10 ms ends in a release and an attempt.
    expect(evalsha).to.be.within(100, 150)
  })

  it('guarantee 3: tryLock() without a wait does not go past those who queue', async () => {
    const foreign = await foreignLock()
    const redisson = await createRedisson({ redis: server.url })
    const lock = redisson.getLock(foreign.name)
    const waiting = lock.acquire()
    await waitUntil('it waits', async () => (await foreign.listeners()) === 1)
    await sleep(100)
    await foreign.vanish()
    expect(await lock.tryLock()).to.equal(false)
    await redis.publish(foreign.channel, '0')
    await (await waiting).unlock()
    expect(await lock.tryLock()).to.equal(true)
    await lock.unlock()
  })

  it('guarantee 3: re-entry never queues', async () => {
    const redisson = await createRedisson({ redis: server.url })
    const lock = redisson.getLock(uniqueName())
    await redisson.run(async () => {
      await lock.lock()
      const queued = Array.from({ length: 10 }, () => redisson.run(() => lock.withLock(() => {})))
      await lock.lock()
      expect(await lock.tryLock()).to.equal(true)
      expect(await lock.getHoldCount()).to.equal(3)
      for (let level = 3; level > 0; level--) await lock.unlock()
      await Promise.all(queued)
    })
  })

  it('atlas A13: do not pile up listeners, neither on emitters of ours nor on a signal they share', async () => {
    const warnings: Error[] = []
    const collect = (warning: Error) => warnings.push(warning)
    process.on('warning', collect)
    const foreign = await foreignLock()
    const redisson = await createRedisson({ redis: server.url })
    const controller = new AbortController()
    const { signal } = controller
    const waiting = Array.from({ length: 1_000 }, (_, index) =>
      rejection(redisson.getLock(index % 2 ? foreign.name : `${foreign.name}${index}`).lock({ signal })),
    )
    // Half of the names were free; their acquisitions succeed and must let go of the signal too.
    for (const outcome of waiting) outcome.catch(() => {})
    await waitUntil('they wait', async () => (await foreign.listeners()) === 1)
    expect(getEventListeners(signal, 'abort')).to.have.length(1)
    const reason = new Error('all out')
    controller.abort(reason)
    const outcomes = await Promise.allSettled(waiting)
    expect(
      outcomes.filter((outcome) => outcome.status === 'fulfilled' && outcome.value === reason),
    ).to.have.length(500)
    expect(getEventListeners(signal, 'abort')).to.have.length(0)
    // Warnings are told a tick later.
    await sleep(20)
    process.off('warning', collect)
    expect(warnings.map(({ name, message }) => `${name}: ${message}`)).to.deep.equal([])
  })
})
