import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { Redis } from 'ioredis'
import type { RenewalFailedEvent } from '../../src/index'
import { type Standalone, startStandalone, waitUntil } from '../servers'
import { closeAll, createRedisson, openRedis, uniqueName } from '../support/clients'
import { ForeignLock } from '../support/foreign-lock'
import { JumpingClock } from '../support/jumping-clock'
import { closeProxies, openProxy } from '../support/proxies'
import { latch, ScriptCounter, tapped } from '../support/tapped-transport'

const WATCHDOG = 900

describe('the watchdog', () => {
  let server: Standalone
  let redis: Redis

  // Users are changed and commands counted here, so the server is ours alone.
  before(async () => {
    server = await startStandalone()
  })

  after(() => server.stop())

  beforeEach(async () => {
    redis = await openRedis(server.url)
  })

  afterEach(async () => {
    await closeAll()
    await closeProxies()
  })

  const create = (transport?: ScriptCounter['transport'], lockWatchdogTimeout = WATCHDOG) =>
    createRedisson({ redis: server.url, lockWatchdogTimeout }, transport ? { transport } : {})

  it('atlas B9: keeps a lock for many times its lease', async () => {
    const redisson = await create()
    const lock = redisson.getLock(uniqueName())
    const hold = await lock.acquire()
    for (let look = 0; look < 8; look++) {
      await sleep(WATCHDOG / 3)
      expect(hold.isHeld).to.equal(true)
      expect(await redis.pttl(hold.lockName)).to.be.greaterThan(0)
    }
    await hold.unlock()
  })

  it('renews a hold whose acquisition was answered late before those that were answered sooner', async () => {
    const name = uniqueName()
    const redisson = await create(
      tapped(async ({ name: script, keys, pass }) => {
        const answer = await pass()
        if (script === 'lock/acquire' && keys[0] === name) await sleep(2_000)
        return answer
      }),
      3_000,
    )
    const lost: unknown[] = []
    redisson.on('lockLost', (event) => lost.push(event))
    const late = redisson.getLock(name).acquire()
    await sleep(1_800)
    const sooner = await redisson.getLock(uniqueName()).acquire()
    const hold = await late
    await sleep(1_500)
    expect([hold.isHeld, sooner.isHeld, lost]).to.deep.equal([true, true, []])
    await Promise.all([hold.unlock(), sooner.unlock()])
  })

  it('atlas B1: goes on after a renewal that the server refused', async () => {
    await redis.call('ACL', 'SETUSER', 'shaky', 'on', '>secret', '~*', '&*', '+@all')
    const failures: RenewalFailedEvent[] = []
    const redisson = await createRedisson({
      redis: server.url.replace('redis://', 'redis://shaky:secret@'),
      lockWatchdogTimeout: 3_000,
    })
    const lost: unknown[] = []
    redisson.on('renewalFailed', (event) => failures.push(event))
    redisson.on('lockLost', (event) => lost.push(event))
    const hold = await redisson.getLock(uniqueName()).acquire()
    for (let outage = 1; outage <= 2; outage++) {
      await redis.call('ACL', 'SETUSER', 'shaky', '-evalsha')
      await waitUntil('a renewal failed', () => failures.length >= outage)
      // Further tries fail as well before one succeeds.
      await sleep(400)
      expect(failures, 'told once an outage').to.have.length(outage)
      await redis.call('ACL', 'SETUSER', 'shaky', '+evalsha')
      await waitUntil('it is renewed', async () => (await redis.pttl(hold.lockName)) > 2_500)
    }
    expect(lost).to.deep.equal([])
    expect(hold.isHeld).to.equal(true)
    const { lockName, threadId, error } = failures[0]!
    expect({ lockName, threadId }).to.deep.equal({ lockName: hold.lockName, threadId: hold.threadId })
    expect((error as Error).message).to.contain('NOPERM')
    await hold.unlock()
  })

  it('atlas B1: goes on when its connection broke, without a loss', async () => {
    const proxy = await openProxy(server)
    const redisson = await createRedisson({ redis: proxy.url, lockWatchdogTimeout: 1_800 })
    const lost: unknown[] = []
    redisson.on('lockLost', (event) => lost.push(event))
    const hold = await redisson.getLock(uniqueName()).acquire()
    // The reply to a renewal is lost, and the connection with it.
    await proxy.dropNextReply(([name]) => name === 'evalsha')
    await waitUntil('it is renewed', async () => (await redis.pttl(hold.lockName)) > 1_500)
    await sleep(1_900)
    expect(hold.isHeld).to.equal(true)
    expect(lost).to.deep.equal([])
    await hold.unlock()
  })

  it('atlas B1: refused until the deadline, ends the hold there and not at its next try, and never spins', async () => {
    const clock = new JumpingClock()
    const transport = tapped(async (sent) => {
      if (sent.name === 'lock/renew') throw new Error('NOPERM not now')
      return await sent.pass()
    })
    // Tries every 300 ms from 2 s on; one of them fails shortly before the deadline at 5.4 s.
    const redisson = await createRedisson(
      { redis: server.url, lockWatchdogTimeout: 6_000 },
      { clock, transport },
    )
    const hold = await redisson.getLock(uniqueName()).acquire()
    const lost = new Promise<void>((resolve) => redisson.on('lockLost', () => resolve()))
    const before = clock.timers
    await lost
    expect(await redis.pttl(hold.lockName)).to.be.greaterThan(0)
    expect(clock.timers - before).to.be.lessThan(100)
  })

  it('atlas B2: stops at the last unlock()', async () => {
    const scripts = new ScriptCounter()
    const redisson = await create(scripts.transport)
    const hold = await redisson.getLock(uniqueName()).acquire()
    await waitUntil('it was renewed', () => scripts.of('lock/renew') > 0)
    await hold.unlock()
    // Somebody else's lock of that name must run out.
    await new ForeignLock(redis, hold.lockName).take(WATCHDOG)
    const renewals = scripts.of('lock/renew')
    await waitUntil('it has run out', async () => (await redis.exists(hold.lockName)) === 0, 3_000)
    expect(scripts.of('lock/renew')).to.equal(renewals)
  })

  it('atlas B2: a renewal under way at the last unlock() revives nothing', async () => {
    let renewals = 0
    const [unlocked, underWay] = [latch(), latch()]
    const redisson = await create(
      tapped(async (sent) => {
        if (sent.name !== 'lock/renew' || sent.bySource) return await sent.pass()
        renewals++
        underWay.open()
        await unlocked.opened
        return await sent.pass()
      }),
    )
    const hold = await redisson.getLock(uniqueName()).acquire()
    const lost: unknown[] = []
    redisson.on('lockLost', (event) => lost.push(event))
    await underWay.opened
    await hold.unlock()
    unlocked.open()
    await sleep(WATCHDOG)
    expect(renewals).to.equal(1)
    expect(await redis.exists(hold.lockName)).to.equal(0)
    expect(lost).to.deep.equal([])
  })

  it('atlas B2: stops when the lock was released by force, from here or from elsewhere', async () => {
    const scripts = new ScriptCounter()
    const redisson = await create(scripts.transport)
    const here = await redisson.getLock(uniqueName()).acquire()
    const elsewhere = await redisson.getLock(uniqueName()).acquire()
    const other = await create()
    expect(await redisson.getLock(here.lockName).forceUnlock()).to.equal(true)
    expect(await other.getLock(elsewhere.lockName).forceUnlock()).to.equal(true)
    await waitUntil('the loss is noticed', () => elsewhere.signal.aborted)
    const renewals = scripts.of('lock/renew')
    await sleep(WATCHDOG)
    expect(scripts.of('lock/renew')).to.equal(renewals)
  })

  it('atlas B3: renews a lock until its outermost unlock()', async () => {
    const scripts = new ScriptCounter()
    const redisson = await create(scripts.transport)
    const lock = redisson.getLock(uniqueName())
    await redisson.run(async () => {
      await lock.lock()
      await lock.lock()
      await sleep(1.2 * WATCHDOG)
      expect(await lock.getHoldCount()).to.equal(2)
      await lock.unlock()
      await sleep(1.2 * WATCHDOG)
      expect(await lock.getHoldCount()).to.equal(1)
      await lock.unlock()
    })
    const renewals = scripts.of('lock/renew')
    await sleep(WATCHDOG)
    expect(scripts.of('lock/renew')).to.equal(renewals)
  })

  it('atlas B6: renews thousands of locks in bounded batches without holding up the event loop', async () => {
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

  it('guarantee 6: one lost lock in a batch loses none of the others', async () => {
    const redisson = await create()
    const lost: string[] = []
    redisson.on('lockLost', ({ lockName }) => lost.push(lockName))
    const [first, second, third] = await Promise.all(
      [1, 2, 3].map(() => redisson.getLock(uniqueName()).acquire()),
    )
    await redis.del(first!.lockName)
    await redis.set(second!.lockName, 'no lock at all')
    await waitUntil('the losses are noticed', () => lost.length === 2)
    await sleep(WATCHDOG)
    expect(lost.sort()).to.deep.equal([first!.lockName, second!.lockName].sort())
    expect(third!.isHeld).to.equal(true)
    await third!.unlock()
  })
})
