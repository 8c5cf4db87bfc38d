import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { Redis } from 'ioredis'
import type { LockHold, LockLostEvent } from '../../src/index'
import { closeAll, createRedisson, openRedis, uniqueName } from '../kit/clients'
import { closeProxies, openProxy } from '../kit/proxies'
import { type Standalone, sharedSentinel, startStandalone, waitUntil } from '../kit/servers/index'
import { ScriptCounter } from '../kit/tapped-transport'

/** Renewed at every third of it: what is noticed within a second was reported by the server. */
const WATCHDOG = 9_000
const RENEWED = WATCHDOG / 3 + 2_000

describe('Client tracking of a renewed lock', () => {
  let server: Standalone
  let redis: Redis

  // Users are changed and commands counted here, so the server is ours alone.
  before(async () => {
    server = await startStandalone()
  })

  after(() => server.stop())

  beforeEach(async () => {
    redis = await openRedis(server.url)
    // It remembers keys that are gone, until somebody makes them anew.
    await redis.flushall()
  })

  afterEach(async () => {
    await closeAll()
    await closeProxies()
  })

  async function create(url = server.url, scripts?: ScriptCounter) {
    const internals = scripts ? { transport: scripts.transport } : {}
    const redisson = await createRedisson({ redis: url, lockWatchdogTimeout: WATCHDOG }, internals)
    const lost: LockLostEvent[] = []
    redisson.on('lockLost', (event) => lost.push(event))
    redisson.on('error', () => {})
    return { redisson, lost }
  }

  /** The server keeps an eye on so many keys. */
  async function watched(count: number) {
    await waitUntil(
      `${count} keys are watched`,
      async () => Number(/^tracking_total_keys:(\d+)/m.exec(await redis.info('stats'))![1]) === count,
      RENEWED,
    )
  }

  /** Which connection is tracked, and which one is notified; nothing where none is. */
  async function tracking(): Promise<string | undefined> {
    const clients = String(await redis.call('CLIENT', 'LIST'))
    return /^id=(\d+) .* flags=\w*t\w* .* redir=(\d+)/m.exec(clients)?.slice(1).join(' to ')
  }

  async function noticedSoon(hold: LockHold, takeAway: () => Promise<unknown>) {
    const { signal } = hold
    await takeAway()
    await waitUntil('the loss is noticed', () => signal.aborted, 1_000)
    expect(hold.isHeld).to.equal(false)
  }

  it('Another client’s forceUnlock() is noticed within a second by client tracking (C5)', async () => {
    const { redisson, lost } = await create()
    const { redisson: other } = await create()
    const hold = await redisson.getLock(uniqueName()).acquire()
    const write = await redisson.getReadWriteLock(uniqueName()).writeLock().acquire()
    await watched(2)
    await noticedSoon(hold, () => other.getLock(hold.lockName).forceUnlock())
    await noticedSoon(write, () => other.getReadWriteLock(write.lockName).writeLock().forceUnlock())
    expect(lost.map(({ reason }) => reason)).to.deep.equal(['gone', 'gone'])
    expect(await redis.exists(hold.lockName, write.lockName)).to.equal(0)
  })

  it('A DEL, an overwritten key and a FLUSHALL are noticed within a second by client tracking (B11)', async () => {
    const { redisson } = await create()
    const [first, second, third] = await Promise.all(
      [1, 2, 3].map(() => redisson.getLock(uniqueName()).acquire()),
    )
    await watched(3)
    await noticedSoon(first!, () => redis.del(first!.lockName))
    await noticedSoon(second!, () => redis.set(second!.lockName, 'no lock at all'))
    expect(third!.isHeld).to.equal(true)
    await noticedSoon(third!, () => redis.flushall())
  })

  it('With client tracking, a change that leaves the lock alone loses nothing, and the next is noticed as well', async () => {
    const { redisson, lost } = await create()
    const hold = await redisson.getLock(uniqueName()).acquire()
    await watched(1)
    for (let times = 0; times < 3; times++) {
      await redis.pexpire(hold.lockName, WATCHDOG / 2)
      await waitUntil('it was asked about', async () => (await redis.pttl(hold.lockName)) > 0.9 * WATCHDOG)
    }
    expect(lost).to.deep.equal([])
    await noticedSoon(hold, () => redis.del(hold.lockName))
  })

  it('With client tracking, a lock that is freed before its first renewal costs nothing but its two commands', async () => {
    const { redisson } = await create()
    for (let times = 0; times < 20; times++) await (await redisson.getLock(uniqueName()).acquire()).unlock()
    expect(await tracking()).to.equal(undefined)
    expect(await redis.pubsub('CHANNELS')).to.deep.equal([])
  })

  it('With client tracking, renewals and releases of the client itself cause no revalidation', async () => {
    const scripts = new ScriptCounter()
    const { redisson, lost } = await create(server.url, scripts)
    const hold = await redisson.getLock(uniqueName()).acquire()
    await watched(1)
    const renewals = scripts.of('lock/renew')
    await sleep(1_000)
    expect(scripts.of('lock/renew')).to.equal(renewals)
    await hold.unlock()
    await watched(0)
    await sleep(300)
    expect(scripts.of('lock/renew')).to.equal(renewals)
    expect(lost).to.deep.equal([])
  })

  it('With client tracking, losses are noticed again after either connection broke', async () => {
    const proxy = await openProxy(server)
    const scripts = new ScriptCounter()
    const { redisson, lost } = await create(proxy.url, scripts)
    for (const which of ['pubsub', 'normal', 'all']) {
      await redis.flushall()
      const hold = await redisson.getLock(uniqueName()).acquire()
      await watched(1)
      const [armed, renewals] = [await tracking(), scripts.of('lock/renew')]
      if (which === 'all') proxy.cut()
      else await redis.call('CLIENT', 'KILL', 'TYPE', which, 'SKIPME', 'yes')
      await waitUntil('it is armed anew', async () => ![undefined, armed].includes(await tracking()))
      await waitUntil('it was renewed under it', () => scripts.of('lock/renew') > renewals)
      await sleep(200)
      await noticedSoon(hold, () => redis.del(hold.lockName))
    }
    expect(lost).to.have.length(3)
  })

  for (const refused of ['-client', 'resetchannels &redisson*'])
    it(`With client tracking, a user who may not (${refused}) works as without tracking`, async () => {
      await redis.call('ACL', 'SETUSER', 'few', 'reset', 'on', '>secret', '~*', '&*', '+@all')
      await redis.call('ACL', 'SETUSER', 'few', ...refused.split(' '))
      const { redisson, lost } = await create(server.url.replace('redis://', 'redis://few:secret@'))
      const errors: Error[] = []
      redisson.on('error', (error) => errors.push(error))
      const hold = await redisson.getLock(uniqueName()).acquire()
      const gone = await redisson.getLock(uniqueName()).acquire()
      await sleep(WATCHDOG / 3 + 500)
      expect(hold.isHeld).to.equal(true)
      expect(errors).to.deep.equal([])
      await redis.del(gone.lockName)
      await waitUntil('it is noticed at the next renewal', () => lost.length === 1, WATCHDOG)
      await hold.unlock()
    })

  it('Behind Sentinel a forced release is noticed at the next renewal, and no renewal causes another one (C5)', async () => {
    const setup = await sharedSentinel()
    const scripts = new ScriptCounter()
    const redisson = await createRedisson(
      {
        redis: { sentinels: setup.sentinels.map(({ host, port }) => ({ host, port })), name: setup.name },
        lockWatchdogTimeout: WATCHDOG,
        // Short enough for replicas to acknowledge the renewals, which takes them over a connection of their own.
        slavesSyncTimeout: 500,
      },
      { transport: scripts.transport },
    )
    const hold = await redisson.getLock(uniqueName()).acquire()
    const gone = await redisson.getLock(uniqueName()).acquire()
    const { host, port } = await setup.primary()
    await waitUntil('one was renewed', () => scripts.of('lock/renew') > 0, RENEWED)
    // And the other, taken a moment later.
    await sleep(500)
    const renewals = scripts.of('lock/renew')
    await sleep(1_000)
    expect(scripts.of('lock/renew')).to.equal(renewals)
    await (await openRedis(`redis://${host}:${port}`)).del(gone.lockName)
    await waitUntil('the loss is noticed', () => gone.signal.aborted, RENEWED)
    expect(hold.isHeld).to.equal(true)
    await hold.unlock()
  })
})

describe('A server whose tracking table holds fewer keys than there are locks', () => {
  const HOLDS = 100
  const LEASE = 3_000
  /** By then it is clear that the server drops keys. */
  const SETTLED = 2_000
  const WATCHED_FOR = 3_000
  let server: Standalone
  let redis: Redis

  before(async () => {
    server = await startStandalone()
    redis = await openRedis(server.url)
  })
  after(async () => {
    await closeAll()
    await server.stop()
  })

  /** How many commands a second it takes to keep the locks, with a table for so many keys. */
  async function commandsASecond(keys: number): Promise<number> {
    await redis.config('SET', 'tracking-table-max-keys', keys)
    const redisson = await createRedisson({ redis: server.url, lockWatchdogTimeout: LEASE })
    const holds = await Promise.all(
      Array.from({ length: HOLDS }, () => redisson.getLock(uniqueName()).acquire()),
    )
    const processed = async () => {
      const stats = await redis.info('commandstats')
      const calls = [...stats.matchAll(/^cmdstat_(?:evalsha|exists|client\|caching):calls=(\d+)/gm)]
      return calls.reduce((sum, [, count]) => sum + Number(count), 0)
    }
    // The first renewal makes the server track the keys.
    await waitUntil(
      'keys are tracked',
      async () => /^tracking_total_keys:[1-9]/m.test(await redis.info('stats')),
      LEASE,
    )
    await sleep(SETTLED)
    const before = await processed()
    await sleep(WATCHED_FOR)
    const rate = (1_000 * ((await processed()) - before)) / WATCHED_FOR
    expect(holds.every(({ isHeld }) => isHeld)).to.equal(true)
    await redisson.shutdown({ timeout: 0 })
    await redis.flushall()
    return rate
  }

  it('A server whose tracking table holds fewer keys than there are locks is not asked again and again about the keys that it drops', async () => {
    const enough = await commandsASecond(1_000_000)
    for (const keys of [10, HOLDS - 10]) {
      const tooFew = await commandsASecond(keys)
      // Holds that were asked about by themselves are renewed by themselves from then on, some tens of them in all.
      expect(tooFew, `${keys} keys; with room for all ${enough} a second`).to.be.at.most(2 * enough + 1)
    }
  })
})
