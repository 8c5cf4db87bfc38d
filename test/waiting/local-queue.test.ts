import { getEventListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { createRedisson, rejection, uniqueName } from '../kit/clients'
import { redis, redisAndName } from '../kit/each-test'
import { ForeignLock } from '../kit/foreign-lock'
import { ownServer, waitUntil } from '../kit/servers/index'

const LEASE = 60_000

describe('the waiters of one process', () => {
  const server = ownServer()

  // Commands are counted here, so no other client may send any.

  redisAndName('test', { server })

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

  it('Waiters of one process are served first come, first served, through any object', async () => {
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

  it('A thousand waiters of one process cost Redis nothing but an occasional PING (guarantee 2)', async () => {
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

  it('A local handoff from one waiter to the next is one command (A12)', async () => {
    const foreign = await foreignLock()
    const redisson = await createRedisson({ redis: server.url })
    const waiting = Array.from({ length: 100 }, () => redisson.getLock(foreign.name).withLock(() => {}))
    await waitUntil('they wait', async () => (await foreign.listeners()) === 1)
    await sleep(200)
    const { evalsha = 0 } = await commandsDuring(async () => {
      await foreign.release()
      await Promise.all(waiting)
    })
    // A turn of some 10 ms ends in a release and a try.
    expect(evalsha).to.be.within(100, 150)
  })

  it('tryLock() without a wait does not overtake queued callers (guarantee 3)', async () => {
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

  it('Re-entry never queues (guarantee 3)', async () => {
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

  it('A thousand waiters add no emitter listeners, and one to a shared signal (A13)', async () => {
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
    // Warnings are reported a tick later.
    await sleep(20)
    process.off('warning', collect)
    expect(warnings.map(({ name, message }) => `${name}: ${message}`)).to.deep.equal([])
  })
})
