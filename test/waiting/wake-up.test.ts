import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { sharedStandalone, waitUntil } from '../servers'
import { closeAll, createRedisson, openRedis, timed, uniqueName } from '../support/clients'
import { ForeignLock } from '../support/foreign-lock'
import { closeProxies, openProxy } from '../support/proxies'
import { latch, type ScriptSent, tapped } from '../support/tapped-transport'

// Every lock here is held with a lease that outlasts the test: whoever acquires was woken, not timed out.
const LEASE = 60_000
const PROMPTLY = 5_000

describe('waking a waiter', () => {
  afterEach(async () => {
    await closeAll()
    await closeProxies()
  })

  async function foreignLock() {
    const foreign = new ForeignLock(await openRedis(), uniqueName())
    await foreign.take(LEASE)
    return foreign
  }

  /** A client whose nth attempt to acquire goes through `at`, all others straight to the server. */
  function withAttempt(n: number, at: (sent: ScriptSent) => Promise<unknown>, redis?: string) {
    let attempts = 0
    const transport = tapped((sent) =>
      sent.name === 'lock/acquire' && ++attempts === n ? at(sent) : sent.pass(),
    )
    return createRedisson(redis ? { redis } : {}, { transport })
  }

  it('atlas A1: a release right after the failed first attempt is not missed', async () => {
    const foreign = await foreignLock()
    const redisson = await withAttempt(1, async (sent) => {
      const answer = await sent.pass()
      await foreign.release()
      return answer
    })
    expect(await timed(() => redisson.getLock(foreign.name).lock())).to.be.lessThan(PROMPTLY)
  })

  it('atlas A1: a release while the subscription is on its way is not missed', async () => {
    const foreign = await foreignLock()
    const proxy = await openProxy(await sharedStandalone())
    const redisson = await withAttempt(
      1,
      async (sent) => {
        const answer = await sent.pass()
        // The SUBSCRIBE that follows arrives after the release, which nothing delays.
        proxy.delay(400)
        setImmediate(() => void foreign.release())
        return answer
      },
      proxy.url,
    )
    expect(await timed(() => redisson.getLock(foreign.name).lock())).to.be.lessThan(PROMPTLY)
  })

  it('atlas A1: a message between the second attempt and the sleep is not missed', async () => {
    const foreign = await foreignLock()
    const redisson = await withAttempt(2, async (sent) => {
      const answer = await sent.pass()
      await foreign.release()
      // The message is here before the answer to the attempt, which says "held".
      await sleep(200)
      return answer
    })
    expect(await timed(() => redisson.getLock(foreign.name).lock())).to.be.lessThan(PROMPTLY)
  })

  it('atlas A2: a waiter aborted just as it is woken passes the wake-up to the next', async () => {
    const foreign = await foreignLock()
    const abort = new AbortController()
    const granted = latch()
    // The third attempt is the woken one: the first two failed before and after the subscription.
    const redisson = await withAttempt(3, async (sent) => {
      const answer = await sent.pass()
      expect(answer).to.equal(null)
      granted.open()
      abort.abort(new Error('had enough'))
      await sleep(50)
      return answer
    })
    const lock = redisson.getLock(foreign.name)
    const first = lock.acquire({ signal: abort.signal }).then(
      () => 'acquired',
      (error: Error) => error.message,
    )
    const second = lock.acquire()
    await waitUntil('both wait', async () => (await foreign.listeners()) === 1)
    await sleep(100)
    await foreign.release()
    await granted.opened
    expect(await timed(() => second)).to.be.lessThan(PROMPTLY)
    expect(await first).to.equal('had enough')
  })

  it('atlas A2: a waiter whose wait ends just as it is woken passes the wake-up to other processes', async () => {
    const foreign = await foreignLock()
    const redisson = await withAttempt(3, async (sent) => {
      const answer = await sent.pass()
      expect(answer).to.equal(null)
      // Later than the wait and the grace for a slow round trip.
      await sleep(2_000)
      return answer
    })
    const lock = redisson.getLock(foreign.name)
    const first = lock.tryLock(600)
    await waitUntil('it waits', async () => (await foreign.listeners()) === 1)
    await sleep(100)
    await foreign.release()
    await sleep(50)
    const other = await createRedisson()
    const second = other.getLock(foreign.name).acquire({ leaseTime: LEASE })
    expect(await first).to.equal(false)
    expect(await timed(() => second)).to.be.lessThan(PROMPTLY)
  })

  it('atlas A2: of many waiters that leave as they are woken, the one that stays is served', async () => {
    const foreign = await foreignLock()
    const redisson = await createRedisson()
    const lock = redisson.getLock(foreign.name)
    const leaving = new AbortController()
    const left = Array.from({ length: 20 }, () => lock.lock({ signal: leaving.signal }).catch(() => 'left'))
    const staying = lock.acquire()
    await waitUntil('they wait', async () => (await foreign.listeners()) === 1)
    await Promise.all([foreign.release(), leaving.abort()])
    expect(await timed(() => staying)).to.be.lessThan(PROMPTLY)
    expect(new Set(await Promise.all(left))).to.deep.equal(new Set(['left']))
  })

  it('atlas A3: a waiter that leaves does not silence the others', async () => {
    const foreign = await foreignLock()
    const redisson = await createRedisson()
    const staying = redisson.getLock(foreign.name).acquire()
    expect(await redisson.getLock(foreign.name).tryLock(100)).to.equal(false)
    // Longer than an unused subscription lingers.
    await sleep(1_500)
    await foreign.release()
    expect(await timed(() => staying)).to.be.lessThan(PROMPTLY)
  })

  it('atlas A3: a waiter that joins while the channel is being unsubscribed is woken', async () => {
    const foreign = await foreignLock()
    const proxy = await openProxy(await sharedStandalone())
    const redisson = await createRedisson({ redis: proxy.url })
    const lock = redisson.getLock(foreign.name)
    expect(await lock.tryLock(100)).to.equal(false)
    proxy.delay(300)
    await waitUntil('the server unsubscribed it', async () => (await foreign.listeners()) === 0, 10_000, 5)
    // The confirmation is still on its way back.
    const joining = lock.acquire()
    await waitUntil('it is subscribed again', async () => (await foreign.listeners()) === 1)
    await foreign.release()
    expect(await timed(() => joining)).to.be.lessThan(PROMPTLY)
  })

  it('guarantee 2: while no message arrives, a lock whose lease runs out is taken then', async () => {
    const foreign = new ForeignLock(await openRedis(), uniqueName())
    await foreign.take(700)
    const redisson = await createRedisson()
    expect(await timed(() => redisson.getLock(foreign.name).lock())).to.be.within(500, PROMPTLY)
  })
})
