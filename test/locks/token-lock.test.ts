import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import {
  IllegalMonitorStateError,
  LockLostError,
  type Redisson,
  RedisUnavailableError,
  WrongTypeError,
} from '../../src/index'
import { anyHandleSuite } from '../contract/any-handle'
import { lockHandles } from '../contract/handles'
import { ownershipSuite } from '../contract/ownership'
import { tokenLock } from '../contract/primitives'
import { renewalSuite } from '../contract/renewal'
import { createRedisson, rejection, uniqueName } from '../kit/clients'
import { clientAndRedis, name, redis, redisson } from '../kit/each-test'
import { keptBy } from '../kit/left-in'
import { SentScripts } from '../kit/sent-scripts'
import { startStandalone, waitUntil } from '../kit/servers/index'
import { waitingIn } from '../kit/sleepers'
import { NO_PROCESS, skipInMemory } from '../kit/stand-in'
import { VirtualClock } from '../kit/virtual-clock'

anyHandleSuite(lockHandles(tokenLock))
renewalSuite(tokenLock)
ownershipSuite(tokenLock)

const LEASE = 60_000
const FOREIGN = 'a token of another library'

describe('A token lock', () => {
  clientAndRedis('token')

  const isFree = async () => (await redis.exists(name)) === 0
  const waits = (client: Redisson, clockless = name) =>
    waitUntil('it waits', () => waitingIn(client, `token ${clockless}`).isAsleep)

  it('A token lock is the string others set: 128 bits, the lease, gone after unlock()', async () => {
    const lock = redisson.getTokenLock(name)
    expect(lock.getName()).to.equal(name)
    expect(await lock.isLocked()).to.equal(false)
    await lock.lock(20_000)
    expect(await redis.get(name)).to.match(/^[0-9a-f]{32}$/)
    expect(await redis.pttl(name)).to.be.within(15_000, 20_000)
    expect(await redis.set(name, FOREIGN, 'PX', 1_000, 'NX')).to.equal(null)
    expect(await lock.isLocked()).to.equal(true)
    await lock.unlock()
    expect(await isFree()).to.equal(true)
    expect(await lock.tryLock()).to.equal(true)
    expect(await redis.pttl(name)).to.be.within(25_000, 30_000)
    await lock.unlock()
    expect(await lock.withLock((hold) => hold.isHeld && hold.lockName)).to.equal(name)
    expect(await lock.forceUnlock()).to.equal(false)
  })

  it('A token lock refuses its own caller, in and below its thread; others wait', async () => {
    const lock = redisson.getTokenLock(name)
    const refused = async (call: () => Promise<unknown>) => {
      const error = await rejection(call())
      expect(error).to.be.instanceOf(IllegalMonitorStateError)
      expect(error.message).to.contain(name).and.to.contain(redisson.getId()).and.to.contain('not re-entrant')
    }
    await redisson.run(async () => {
      await lock.lock()
      await refused(() => lock.lock())
      await refused(() => redisson.getTokenLock(name).tryLock(100))
      await refused(() => redisson.getLock(uniqueName()).withLock(() => lock.acquire()))
      await lock.unlock()
      await refused(() => lock.withLock(() => lock.tryLock()))
    })
    await lock.lock({ threadId: 3 })
    await refused(() => lock.tryLock({ threadId: 3 }))
    expect(await lock.tryLock(50)).to.equal(false)
    expect(await redisson.run(() => lock.tryLock())).to.equal(false)
    expect((await rejection(lock.unlock())).code).to.equal('ILLEGAL_MONITOR_STATE')
    await lock.unlock({ threadId: 3 })
  })

  it('Waiters of a token lock wake by the message of ours, without a look of their own', async () => {
    const clock = new VirtualClock()
    const waiting = await createRedisson({}, { clock })
    const hold = await redisson.getTokenLock(name).acquire()
    const acquiring = waiting.getTokenLock(name).acquire()
    await waits(waiting)
    await hold.unlock()
    // Time stands still for the waiter: only the message can have woken it.
    await (await acquiring).unlock()
    const forced = await redisson.getTokenLock(name).acquire()
    const next = waiting.getTokenLock(name).acquire()
    await waits(waiting)
    expect(await redisson.getTokenLock(name).forceUnlock()).to.equal(true)
    expect(forced.isHeld).to.equal(false)
    await (await next).unlock()
  })

  it('A waiter of a token lock looks after 20 ms, doubling to 1 s, one a process', async () => {
    const clock = new VirtualClock()
    const scripts = new SentScripts()
    const client = await createRedisson({}, { clock, transport: scripts.transport })
    const tries = () => scripts.count('token-lock/acquire')
    await redis.set(name, FOREIGN, 'PX', LEASE)
    const enough = new AbortController()
    const crowd = Array.from({ length: 20 }, () =>
      client
        .getTokenLock(name)
        .lock({ signal: enough.signal })
        .catch(() => 'left'),
    )
    await waits(client)
    // A subscription that is confirmed begins anew.
    await sleep(100)
    for (const pause of [20, 40, 80, 160, 320, 640, 1_000, 1_000, 1_000]) {
      await waits(client)
      const before = tries()
      clock.advance(0.8 * pause - 1)
      expect(tries(), `before ${pause} ms`).to.equal(before)
      clock.advance(0.2 * pause + 2)
      expect(tries(), `after ${pause} ms`).to.equal(before + 1)
    }
    enough.abort()
    expect(new Set(await Promise.all(crowd))).to.deep.equal(new Set(['left']))
  })

  it('Local waiters hand a token lock to each other in order, and leave nothing behind', async () => {
    const scripts = new SentScripts()
    const client = await createRedisson({}, { transport: scripts.transport })
    const lock = client.getTokenLock(name)
    const order: number[] = []
    const hold = await lock.acquire()
    const waiting = [1, 2, 3].map((each) => lock.withLock(() => order.push(each)))
    await waits(client)
    await hold.unlock()
    await Promise.all(waiting)
    expect(order).to.deep.equal([1, 2, 3])
    expect(scripts.count('token-lock/handoff')).to.be.greaterThan(0)
    expect(await redis.keys(`*${name}*`)).to.deep.equal([])
    await waitUntil(
      'nothing is kept',
      () => Object.values(keptBy(client)).every((count) => count === 0),
      5_000,
    )
  })

  it('tryLock() of a token lock acquires within its wait what was released silently', async () => {
    await redis.set(name, FOREIGN, 'PX', LEASE)
    const clock = new VirtualClock()
    const client = await createRedisson({}, { clock })
    const lock = client.getTokenLock(name)
    const trying = lock.tryLock(10)
    await waits(client)
    await redis.del(name)
    clock.advance(10)
    expect(await trying).to.equal(true)
    await lock.unlock()
  })

  it('A release of an expired token lock rejects, and sends nothing (K2, K5)', async () => {
    const scripts = new SentScripts()
    const client = await createRedisson({}, { transport: scripts.transport })
    const lock = client.getTokenLock(name)
    await lock.lock({ threadId: 1, leaseTime: 60 })
    await waitUntil('its lease ended', isFree, 5_000, 5)
    await redis.set(name, FOREIGN, 'PX', LEASE)
    expect(await rejection(lock.unlock({ threadId: 1 }))).to.be.instanceOf(LockLostError)
    await sleep(50)
    expect(await redis.get(name)).to.equal(FOREIGN)
    expect(await redis.pttl(name)).to.be.greaterThan(LEASE - 20_000)
    await redis.del(name)
    await lock.lock({ threadId: 1, leaseTime: 60 })
    await waitUntil('its lease ended', isFree, 5_000, 5)
    const successor = await lock.acquire({ threadId: 2 })
    scripts.names.length = 0
    expect(await rejection(lock.unlock({ threadId: 1 }))).to.be.instanceOf(LockLostError)
    expect(scripts.names).to.deep.equal([])
    await successor.unlock()
  })

  it('A token lock that was taken over is lost at a renewal, which prolongs nothing (K2)', async () => {
    const brief = await createRedisson({ lockWatchdogTimeout: 900 })
    const lost: string[] = []
    brief.on('lockLost', ({ reason }) => lost.push(reason))
    const hold = await brief.getTokenLock(name).acquire()
    await redis.set(name, FOREIGN, 'PX', LEASE)
    await waitUntil('the loss is noticed', () => hold.signal.aborted)
    expect(lost).to.deep.equal(['gone'])
    expect(await rejection(hold.unlock())).to.be.instanceOf(LockLostError)
    expect(await redis.get(name)).to.equal(FOREIGN)
    expect(await redis.pttl(name)).to.be.greaterThan(LEASE - 20_000)
  })

  it('Of a thousand callers one is inside a token lock, each with its own token (K3)', async () => {
    const lock = redisson.getTokenLock(name)
    const tokens = new Set<string>()
    let inside = 0
    let most = 0
    await Promise.all(
      Array.from({ length: 1_000 }, () =>
        lock.withLock(async () => {
          most = Math.max(most, ++inside)
          tokens.add((await redis.get(name))!)
          inside--
        }),
      ),
    )
    expect(most).to.equal(1)
    expect(tokens.size).to.equal(1_000)
  })

  it('Without a server each call of a token lock rejects with RedisUnavailableError (K4)', async function () {
    skipInMemory(this, NO_PROCESS)
    const server = await startStandalone()
    const client = await createRedisson({ redis: server.url }, { unavailableAfter: 500 })
    await server.stop()
    const lock = client.getTokenLock(name)
    const ran = () => expect.fail('ran without a lock')
    const calls = [
      lock.withLock(ran),
      lock.withLock(ran, { waitTime: 100 }),
      lock.tryLock(),
      lock.acquire(),
      lock.isLocked(),
    ]
    for (const error of await Promise.all(calls.map((call) => rejection(call))))
      expect(error).to.be.instanceOf(RedisUnavailableError)
  })

  it('A token lock without expiry is held, and warned of once after 5 s of waiting (K6)', async () => {
    const warnings: string[] = []
    const note = (warning: Error & { code?: string }) => {
      if (warning.code === 'RLOCK_NO_EXPIRY') warnings.push(warning.message)
    }
    process.on('warning', note)
    try {
      await redis.set(name, 'data, perhaps')
      expect(await redisson.getTokenLock(name).tryLock(50)).to.equal(false)
      const clock = new VirtualClock()
      const client = await createRedisson({}, { clock })
      const waiting = client.getTokenLock(name).acquire()
      const pass = async (ms: number) => {
        for (let step = 0; step < ms; step += 500) {
          await waits(client)
          clock.advance(500)
          // The answer to the try that this makes.
          await redis.ping()
          await sleep(5)
        }
      }
      await pass(4_000)
      expect(warnings).to.deep.equal([])
      await pass(4_000)
      await waitUntil('it is warned of', () => warnings.length > 0)
      await pass(3_000)
      expect(warnings).to.have.length(1)
      expect(warnings[0]).to.contain(name).and.to.contain(client.getId()).and.to.contain('no expiry')
      expect(await redisson.getTokenLock(name).forceUnlock()).to.equal(true)
      await (await waiting).unlock()
    } finally {
      process.off('warning', note)
    }
  })

  it('A key that is no string is a WrongTypeError of a token lock, and the reverse (K6)', async function () {
    skipInMemory(this, 'it has no DUMP')
    const lock = redisson.getTokenLock(name)
    for (const make of [
      () => redis.hset(name, 'data', 1),
      () => redis.rpush(name, 'data'),
      () => redisson.getLock(name).lock(),
    ]) {
      await make()
      const before = await redis.dumpBuffer(name)
      for (const call of [
        () => lock.lock(),
        () => lock.tryLock(5_000),
        () => lock.acquire(),
        () => lock.withLock(() => expect.fail('inside')),
        () => lock.isLocked(),
        () => lock.forceUnlock(),
      ])
        expect(await rejection(call())).to.be.instanceOf(WrongTypeError)
      expect(await redis.dumpBuffer(name)).to.deep.equal(before)
      await redis.del(name)
    }
    await lock.lock()
    expect(await rejection(redisson.getLock(name).tryLock(5_000))).to.be.instanceOf(WrongTypeError)
    await lock.unlock()
  })

  it('forceUnlock() of a token lock frees any value, binary data too, and comes to an end', async () => {
    await redis.set(name, Buffer.from([0xff, 0xfe, 0, 1]))
    expect(await redisson.getTokenLock(name).forceUnlock()).to.equal(true)
    expect(await isFree()).to.equal(true)
  })
})
