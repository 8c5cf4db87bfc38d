import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { sharedStandalone, waitUntil } from '../servers'
import { closeAll, createRedisson, openRedis, timed, uniqueName } from '../support/clients'
import { ForeignLock } from '../support/foreign-lock'
import { killPrograms, Program } from '../support/program'
import { closeProxies, openProxy } from '../support/proxies'
import { ScriptCounter, tapped } from '../support/tapped-transport'

const LEASE = 60_000
const PROMPTLY = 5_000

describe('how long a waiter waits', () => {
  afterEach(async () => {
    await killPrograms()
    await closeAll()
    await closeProxies()
  })

  async function foreignLock(lease?: number) {
    const foreign = new ForeignLock(await openRedis(), uniqueName())
    await foreign.take(lease)
    return foreign
  }

  it('atlas A6: takes the lock of a killed process when its lease has run out', async () => {
    const redis = await openRedis()
    const name = uniqueName()
    const holder = new Program('hold.ts', redis.options.port!.toString(), name, '2000')
    expect(await holder.line()).to.equal('held')
    const redisson = await createRedisson()
    const waiting = redisson.getLock(name).acquire()
    await waitUntil('it waits', async () => (await new ForeignLock(redis, name).listeners()) === 1)
    holder.kill()
    await holder.exit
    const remaining = await redis.pttl(name)
    expect(remaining).to.be.greaterThan(0)
    expect(await timed(() => waiting)).to.be.lessThan(remaining + 1_500)
  })

  it('atlas A7: tryLock says false when its wait is over, neither before nor much later', async () => {
    const foreign = await foreignLock(LEASE)
    const redisson = await createRedisson()
    const lock = redisson.getLock(foreign.name)
    expect(await timed(() => lock.tryLock(300))).to.be.within(299, 2_000)
    expect(await timed(() => lock.tryLock())).to.be.lessThan(2_000)
  })

  it('atlas A7: a waiter behind others of its process is answered in time as well', async () => {
    const foreign = await foreignLock(LEASE)
    const redisson = await createRedisson()
    const lock = redisson.getLock(foreign.name)
    const enough = new AbortController()
    const first = lock.lock({ signal: enough.signal }).catch(() => 'left')
    expect(await timed(() => lock.tryLock(300))).to.be.within(299, 2_000)
    enough.abort()
    expect(await first).to.equal('left')
  })

  it('atlas A7: after false the lock is not held, though the last attempt was granted late', async () => {
    const foreign = await foreignLock(LEASE)
    let attempts = 0
    const transport = tapped(async (sent) => {
      // The woken attempt is under way when the wait ends, and the server answers it far too late.
      if (sent.name === 'lock/acquire' && ++attempts === 3) await sleep(2_000)
      return await sent.pass()
    })
    const redisson = await createRedisson({}, { transport })
    const lock = redisson.getLock(foreign.name)
    const redis = await openRedis()
    const trying = lock.tryLock(500)
    await waitUntil('it waits', async () => (await foreign.listeners()) === 1)
    await sleep(100)
    await foreign.release()
    expect(await trying).to.equal(false)
    expect(await lock.isHeldByCurrentThread()).to.equal(false)
    await waitUntil(
      'it was granted and given back',
      async () => attempts === 3 && !(await redis.exists(foreign.name)),
    )
    // Longer than the late grant needs: nothing takes the lock after it was given back.
    await sleep(1_500)
    expect(await redis.exists(foreign.name)).to.equal(0)
  })

  it('atlas A7: a slow round trip does not turn a short wait into no try at all', async () => {
    const proxy = await openProxy(await sharedStandalone())
    const redisson = await createRedisson({ redis: proxy.url })
    proxy.delay(100)
    expect(await redisson.getLock(uniqueName()).tryLock(20)).to.equal(true)
  })

  it('atlas A9: a wait beyond what a timer can hold sleeps', async () => {
    const foreign = await foreignLock(LEASE)
    const scripts = new ScriptCounter()
    const redisson = await createRedisson({}, { transport: scripts.transport })
    const waits = [2 ** 31, 2 ** 32 + 5, Number.MAX_SAFE_INTEGER]
    const waiting = waits.map((wait) => redisson.getLock(foreign.name).tryAcquire({ waitTime: wait }))
    await waitUntil('they wait', async () => (await foreign.listeners()) === 1)
    await sleep(300)
    expect(scripts.of('lock/acquire')).to.be.at.most(2)
    await foreign.release()
    for (const each of waiting) await (await each)!.unlock()
  })

  it('atlas A9: a lease beyond what a timer can hold is slept before and held', async () => {
    const lease = 2 ** 32
    const scripts = new ScriptCounter()
    const redisson = await createRedisson({}, { transport: scripts.transport })
    const lock = redisson.getLock(uniqueName())
    const hold = await lock.acquire({ leaseTime: lease })
    const { signal } = hold
    const waiting = lock.acquire()
    await sleep(300)
    expect(hold.isHeld).to.equal(true)
    expect(signal.aborted).to.equal(false)
    expect(scripts.of('lock/acquire')).to.be.at.most(3)
    expect(await lock.remainTimeToLive()).to.be.within(lease - 60_000, lease)
    await hold.unlock()
    await (await waiting).unlock()
  })

  it('atlas A10: a key without expiry makes nobody spin, and its message wakes', async () => {
    const foreign = await foreignLock()
    const scripts = new ScriptCounter()
    const redisson = await createRedisson({}, { transport: scripts.transport })
    const waiting = redisson.getLock(foreign.name).acquire()
    await waitUntil('it waits', async () => (await foreign.listeners()) === 1)
    await sleep(500)
    expect(scripts.of('lock/acquire')).to.be.at.most(2)
    await foreign.release()
    expect(await timed(() => waiting)).to.be.lessThan(PROMPTLY)
  })

  it('atlas A10: a key without expiry is looked at again after a watchdog timeout', async () => {
    const foreign = await foreignLock()
    const redisson = await createRedisson({ lockWatchdogTimeout: 800 })
    const waiting = redisson.getLock(foreign.name).acquire()
    await waitUntil('it waits', async () => (await foreign.listeners()) === 1)
    await sleep(100)
    await foreign.vanish()
    expect(await timed(() => waiting)).to.be.lessThan(PROMPTLY)
  })

  it('atlas A10: a key that loses its expiry while slept before (PERSIST) is waited for by message', async () => {
    const foreign = await foreignLock(600)
    const redis = await openRedis()
    const redisson = await createRedisson()
    const waiting = redisson.getLock(foreign.name).acquire()
    await redis.persist(foreign.name)
    await sleep(1_000)
    await foreign.release()
    expect(await timed(() => waiting)).to.be.lessThan(PROMPTLY)
  })
})
