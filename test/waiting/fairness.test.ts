import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { Redisson } from '../../src/index'
import { createRedisson, openRedis, rejection, uniqueName } from '../kit/clients'
import { startCallersProcess } from '../kit/contention/callers-process'
import { redis, redisAndName } from '../kit/each-test'
import { ForeignLock } from '../kit/foreign-lock'
import { internalsOf } from '../kit/internals'
import { stillPending } from '../kit/observing'
import { openProxy } from '../kit/proxies'
import { ownServer, sharedStandalone, waitUntil } from '../kit/servers/index'
import { VirtualClock } from '../kit/virtual-clock'

/** Of what a process would get if all got the same. */
const LEAST_SHARE = 0.3
const SECTION_MS = 5
const DURATION_MS = 2_000

const LOCKS = {
  'plain lock': (redisson: Redisson, name: string) => redisson.getLock(name),
  'write lock': (redisson: Redisson, name: string) => redisson.getReadWriteLock(name).writeLock(),
  'multi lock': (redisson: Redisson, name: string) => redisson.getMultiLock(...membersOf(redisson, name)),
  RedLock: (redisson: Redisson, name: string) => redisson.getRedLock(...membersOf(redisson, name)),
  'RedLock within a multi lock': (redisson: Redisson, name: string) =>
    redisson.getMultiLock(LOCKS['plain lock'](redisson, name), LOCKS.RedLock(redisson, name)),
}

type Kind = keyof typeof LOCKS

const KINDS = ['plain lock', 'write lock'] as const
/** Their first round asks all members at once, without a wait. */
const KINDS_OF_MANY = ['multi lock', 'RedLock', 'RedLock within a multi lock'] as const

const membersOf = (redisson: Redisson, name: string) =>
  ['a', 'b', 'c'].map((member) => redisson.getLock(`${name}:${member}`))

describe('Each process gets its share of a contended lock', () => {
  /** A way to the server on which each message takes so many ms more. */
  async function farAway(ms: number): Promise<string> {
    const proxy = await openProxy(await sharedStandalone())
    proxy.delay(ms)
    return proxy.url
  }

  /** How many sections each client gets; all of its callers ask again as soon as they are out. */
  async function contend(clients: readonly Redisson[], kind: Kind, callers: number): Promise<number[]> {
    const name = uniqueName()
    const end = performance.now() + DURATION_MS
    const ended = clients.map(async (redisson) => {
      const lock = LOCKS[kind](redisson, name)
      let sections = 0
      const caller = async () => {
        while (performance.now() < end) {
          const hold = await lock.acquire()
          await sleep(SECTION_MS)
          sections++
          await hold.unlock()
        }
      }
      await Promise.all(Array.from({ length: callers }, caller))
      return sections
    })
    return await Promise.all(ended)
  }

  function expectShares(sections: readonly number[]) {
    const fair = sections.reduce((sum, each) => sum + each, 0) / sections.length
    expect(Math.min(...sections) / fair, sections.join(' : ')).to.be.at.least(LEAST_SHARE)
  }

  for (const kind of KINDS_OF_MANY)
    it(`Each process gets its share: a client 5 ms farther, one caller each, ${kind}`, async () => {
      const clients = [await createRedisson(), await createRedisson({ redis: await farAway(5) })]
      expectShares(await contend(clients, kind, 1))
    })

  for (const kind of KINDS) {
    it(`Each process gets its share: two clients of one process, one caller each, ${kind}`, async () => {
      expectShares(await contend([await createRedisson(), await createRedisson()], kind, 1))
    })

    for (const callers of [1, 4])
      for (const ms of [0, 1, 5])
        it(`Each process gets its share: ${ms} ms farther, ${callers} ${callers > 1 ? 'callers' : 'caller'} each, ${kind}`, async () => {
          const clients = [await createRedisson(), await createRedisson({ redis: await farAway(ms) })]
          expectShares(await contend(clients, kind, callers))
        })

    it(`Each process gets its share: three clients at three distances, ${kind}`, async () => {
      const urls = [undefined, await farAway(1), await farAway(5)]
      const clients = await Promise.all(urls.map((redis) => createRedisson(redis ? { redis } : {})))
      expectShares(await contend(clients, kind, 1))
    })

    it(`Each process gets its share: two processes, one by a proxy without delay, ${kind}`, async () => {
      const { url } = await sharedStandalone()
      const redis = await openRedis()
      const [lock, counterKey] = [uniqueName(), uniqueName('counter')]
      const order = { url, lock, counterKey, callers: 1, durationMs: 3_000, holdMs: 20 }
      const processes = [url, await farAway(0)].map((lockUrl) =>
        startCallersProcess({
          ...order,
          lockUrl,
          writing: kind === 'write lock',
          lockWatchdogTimeout: 30_000,
        }),
      )
      try {
        await Promise.all(processes.map(({ ready }) => ready))
        const reports = await Promise.all(processes.map((each) => each.run()))
        const sections = reports.map((report) => report.sections)
        expectShares(sections)
        expect(await redis.getdel(counterKey)).to.equal(String(sections[0]! + sections[1]!))
      } finally {
        for (const each of processes) each.kill()
      }
    })
  }
})

describe('A client that does not wait', () => {
  const server = ownServer()
  let clock: VirtualClock
  let redisson: Redisson

  // Commands are counted here, so no other client may send any.

  redisAndName('test', { server })
  beforeEach(async () => {
    clock = new VirtualClock()
    clock.advance(1_000)
    // Its time stands still, so that no subscription ends because it is old.
    redisson = await createRedisson({ redis: server.url }, { clock })
  })

  for (const kind of KINDS)
    it(`A lone client sends two scripts for a section, and nothing else: ${kind}`, async () => {
      const lock = LOCKS[kind](redisson, uniqueName())
      // The server knows the scripts from here on.
      await lock.withLock(() => {})
      await redis.config('RESETSTAT')
      for (let section = 0; section < 20; section++) await lock.withLock(() => {})
      const stats = await redis.info('commandstats')
      const calls = (command: string) =>
        Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0)
      expect(['evalsha', 'eval', 'subscribe'].map(calls)).to.deep.equal([40, 0, 0])
    })

  /** Has the client wait for a lock that another has, and take it. */
  async function waitedFor(foreign: ForeignLock) {
    await foreign.take(60_000)
    const waiting = redisson.getLock(foreign.name).acquire()
    await waitUntil('it listens', async () => (await foreign.listeners()) === 1)
    await foreign.release()
    return await waiting
  }

  const untilUnheard = (foreign: ForeignLock) =>
    waitUntil('it listens no longer', async () => (await foreign.listeners()) === 0)

  it('A client that does not wait does not listen any more once others release the lock', async () => {
    const foreign = new ForeignLock(redis, uniqueName())
    const hold = await waitedFor(foreign)
    await hold.unlock()
    expect(await foreign.listeners()).to.equal(1)
    await foreign.take(60_000)
    await foreign.release()
    await untilUnheard(foreign)
  })

  it('A client that does not wait leaves the lock to one that heard its release', async () => {
    const foreign = new ForeignLock(redis, uniqueName())
    const ear = await openRedis(server.url)
    await ear.subscribe(foreign.channel)
    const lock = redisson.getLock(foreign.name)
    await lock.withLock(() => {})
    const next = lock.acquire()
    await waitUntil('it listens as well', async () => (await foreign.listeners()) === 2)
    expect(await redis.exists(foreign.name)).to.equal(0)
    await foreign.take(60_000)
    await foreign.release()
    await (await next).unlock()
  })

  const releases: readonly (readonly [what: string, release: (foreign: ForeignLock) => Promise<unknown>])[] =
    [
      [
        'forceUnlock()',
        async (foreign) => {
          await foreign.take(60_000)
          expect(await redisson.getLock(foreign.name).forceUnlock()).to.equal(true)
        },
      ],
      [
        'an acquisition that was given up',
        async (foreign) => {
          const abort = new AbortController()
          const acquiring = rejection(redisson.getLock(foreign.name).acquire({ signal: abort.signal }))
          abort.abort(new Error('enough'))
          await acquiring
          await waitUntil('it is released', () => internalsOf(redisson).orphans.size === 0)
        },
      ],
    ]
  for (const [what, release] of releases)
    it(`A client leaves the lock to another one that heard its release: ${what}`, async () => {
      const foreign = new ForeignLock(redis, uniqueName())
      await (await waitedFor(foreign)).unlock()
      const ear = await openRedis(server.url)
      await ear.subscribe(foreign.channel)
      await release(foreign)
      expect(await redis.exists(foreign.name)).to.equal(0)
      const next = redisson.getLock(foreign.name).acquire()
      expect(await stillPending(next)).to.equal(true)
      await foreign.take(60_000)
      await foreign.release()
      await (await next).unlock()
    })
})
