import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import type { Redis } from 'ioredis'
import type { Redisson } from '../../../src/index'
import { createRedisson, openRedis, uniqueName } from '../../../test/kit/clients'
import { openProxy } from '../../../test/kit/proxies'
import {
  type Ability,
  freshCluster,
  freshSentinel,
  needs,
  ownServer,
  waitUntil,
} from '../../../test/kit/servers/index'
import { takeSlot } from '../../recipes/src/index'
import manifest from '../package.json'
import { SERVER_CHECKS } from '../src/doctor/server-checks'
import { answerInspectors, rlock } from './cli'

const OWNER = '0b6d2a3e-1111-4222-8333-944444444444:42'
const HEALTHY = ['appendonly yes', 'min-replicas-to-write 0']

interface Plant {
  /** What doctor must call it. */
  readonly id: string
  readonly level: 'error' | 'warn'
  readonly plant: (redis: Redis, client: () => Promise<Redisson>) => Promise<unknown>
  /** What undoes a setting. */
  readonly undo?: (redis: Redis) => Promise<unknown>
  /** Whether --fix removes it. */
  readonly fixed?: boolean
  /** What the server must have for it. */
  readonly needs?: Ability
}

const config =
  (...settings: string[]) =>
  async (redis: Redis) => {
    // One after the other: Redis 6.2 takes one at a time.
    for (let at = 0; at < settings.length; at += 2)
      await redis.config('SET', settings[at]!, settings[at + 1]!)
  }

const PLANTED: readonly Plant[] = [
  {
    id: 'eviction',
    level: 'error',
    plant: config('maxmemory', '100mb', 'maxmemory-policy', 'volatile-lru'),
    undo: config('maxmemory', '0', 'maxmemory-policy', 'noeviction'),
  },
  {
    id: 'persistence',
    level: 'warn',
    plant: config('appendonly', 'no', 'save', ''),
    undo: config('appendonly', 'yes'),
  },
  { id: 'client-timeout', level: 'warn', plant: config('timeout', '20'), undo: config('timeout', '0') },
  {
    id: 'pubsub-buffer',
    level: 'warn',
    plant: config('client-output-buffer-limit', 'pubsub 65536 0 0'),
    undo: config('client-output-buffer-limit', 'pubsub 33554432 8388608 60'),
  },
  { id: 'no-expiry', level: 'error', plant: (redis) => redis.hset('p:lock', OWNER, 1) },
  {
    id: 'bad-count',
    level: 'error',
    plant: async (redis) => {
      await redis.hset('p:lock', OWNER, -2)
      await redis.expire('p:lock', 60)
    },
  },
  { id: 'negative-permits', level: 'warn', plant: (redis) => redis.set('p:semaphore', -3) },
  {
    id: 'two-kinds',
    level: 'error',
    plant: async (redis, client) => {
      await (await client()).getReadWriteLock('p:both').readLock().lock()
      await redis.set('redisson_lock_token:{p:both}', 3)
    },
  },
  {
    id: 'fair-queue',
    level: 'error',
    plant: (redis) => redis.rpush('redisson_lock_queue:{p:fair}', OWNER),
    fixed: true,
  },
  {
    id: 'dead-fair-place',
    level: 'warn',
    plant: async (redis) => {
      await redis.rpush('redisson_lock_queue:{p:fair}', OWNER)
      await redis.zadd('redisson_lock_timeout:{p:fair}', Date.now() - 60_000, OWNER)
    },
    fixed: true,
  },
  {
    id: 'orphaned-timeout',
    level: 'warn',
    plant: (redis) => redis.set(`{p:rw}:${OWNER}:rwlock_timeout:1`, 1, 'EX', 60),
    fixed: true,
  },
  {
    id: 'token-expires',
    level: 'error',
    plant: (redis) => redis.set('redisson_lock_token:{p:fenced}', 7, 'EX', 60),
    fixed: true,
  },
  {
    id: 'slow-scripts',
    level: 'warn',
    needs: 'statistics of subcommands',
    plant: (redis) =>
      redis.eval(
        "local t = redis.call('time') local s = t[1] * 1e6 + t[2] repeat t = redis.call('time') until t[1] * 1e6 + t[2] > s + 30000",
        0,
      ),
    undo: (redis) => redis.config('RESETSTAT'),
  },
  {
    id: 'deadlock',
    level: 'error',
    plant: async (_, client) => {
      const [one, two] = [await client(), await client()]
      const nested = (outer: Redisson, first: string, second: string, both: Promise<unknown>) =>
        outer.getLock(first).withLock(async () => {
          await both
          await outer.getLock(second).withLock(() => {})
        })
      const gate: { open(): void } = { open() {} }
      const both = new Promise<void>((resolve) => {
        gate.open = resolve
      })
      for (const [outer, first, second] of [
        [one, 'p:a', 'p:b'],
        [two, 'p:b', 'p:a'],
      ] as const)
        nested(outer, first, second, both).catch(() => {})
      await waitUntil('both hold one', () => one.stats().held === 1 && two.stats().held === 1)
      gate.open()
      await waitUntil('both wait', () => one.stats().waiting === 1 && two.stats().waiting === 1)
    },
  },
]

describe('rlock doctor', function () {
  this.timeout(60_000)
  const server = ownServer({ config: HEALTHY })

  afterEach(async () => (await openRedis(server.url)).flushall())

  const doctor = (...args: string[]) => rlock(['doctor', '--redis', server.url, '--json', ...args])
  const create = () => createRedisson({ redis: server.url })

  it('rlock doctor finds nothing on a healthy server with locks of every kind in use', async () => {
    const client = await create()
    await client.getLock('h:lock').lock()
    await client.getFencedLock('h:fenced').lock()
    await client.getReadWriteLock('h:rw').readLock().lock()
    await client.getTokenLock('h:token').lock()
    const permits = client.getPermitExpirableSemaphore('h:permits')
    await permits.trySetPermits(2)
    await permits.acquirePermit()
    await client.getCountDownLatch('h:latch').trySetCount(1)
    await takeSlot(client, 'h:slots', 2)
    const fair = await client.getFairLock('h:fair').acquire()
    const waiting = client.getFairLock('h:fair').acquire()
    await waitUntil('it waits', () => client.stats().waiting === 1)
    const { json, code, err } = await doctor()
    expect(json, err).to.deep.equal([])
    expect(code).to.equal(0)
    await fair.unlock()
    await (await waiting).unlock()
  })

  for (const { id, level, plant, undo, fixed, needs: ability } of PLANTED)
    it(`rlock doctor finds ${id}${fixed ? ', and --fix corrects it' : ''}`, async function () {
      if (ability) await needs(this, ability)
      const redis = await openRedis(server.url)
      await plant(redis, create)
      try {
        const { json, code } = await doctor(...(fixed ? ['--fix'] : []))
        const finding = json.find((each) => each.id === id)
        expect(finding, JSON.stringify(json)).to.include({ id, level })
        for (const part of ['message', 'fix']) expect(finding[part], part).to.be.a('string').and.not.equal('')
        // A user of npx has no docs: the page is an address, of this version, and the file is there.
        expect(finding.page).to.match(/^https:\/\//)
        const [, version, file] =
          /^https:\/\/github\.com\/rlock\/rlock\/blob\/v([\d.]+)\/(docs\/.*\.md)$/.exec(finding.page)!
        expect(version).to.equal(manifest.version)
        expect(existsSync(join(__dirname, '../../..', file!)), file).to.equal(true)
        expect(code).to.equal(1)
        if (fixed) expect((await doctor()).json).to.deep.equal([])
      } finally {
        await undo?.(redis)
      }
    })

  it('rlock doctor --longer-than finds a hold that is older, and says whose it is', async () => {
    const client = await createRedisson({ redis: server.url, label: 'worker 7' })
    const hold = await client.getLock("it's mine").acquire()
    await waitUntil('it is old', async () => (await doctor('--longer-than', '1s')).json.length > 0)
    const [{ id, level, message, fix }] = (await doctor('--longer-than', '1s')).json
    expect([id, level]).to.deep.equal(['long-hold', 'warn'])
    expect(message).to.contain("it's mine").and.to.contain(hold.owner).and.to.contain('worker 7')
    expect(fix).to.contain("rlock unlock 'it'\\''s mine'")
    expect((await doctor('--longer-than', '1h')).json).to.deep.equal([])
    expect((await doctor('--longer-than', '5')).code).to.equal(2)
    await hold.unlock()
  })

  it('rlock doctor finds a hold that is older than the maxHoldTime that its process says', async () => {
    const client = OWNER.slice(0, 36)
    const redis = await openRedis(server.url)
    for (const key of ['old', 'young']) await redis.multi().hset(key, OWNER, 1).pexpire(key, 60_000).exec()
    const hold = { kind: 'lock', owner: OWNER, maxHoldTime: 60_000 }
    const holds = [
      { ...hold, key: 'old', name: 'old', heldFor: 60_001 },
      { ...hold, key: 'young', name: 'young', heldFor: 60_000 },
    ]
    const answer = { v: 1, client, label: 'worker 7', host: 'h', pid: 1, holds, waits: [], cut: false }
    await answerInspectors(server.url, () => [[JSON.stringify(answer)]])
    const found = (await doctor()).json.map(({ id, message }) => `${id}: ${message}`)
    expect(found).to.have.lengthOf(1)
    expect(found[0]).to.match(/^long-hold: old has been held for .* by .*, worker 7/)
    expect((await doctor('--longer-than', '2m')).json).to.deep.equal([])
    await redis.del('old', 'young')
  })

  it('rlock doctor names BLESS beside eviction where the server has it, and its limit', () => {
    const { fix } = SERVER_CHECKS.find(({ id }) => id === 'eviction')!
    const on = (...info: [string, string][]) => (fix as (node: unknown) => string)({ info: new Map(info) })
    expect(on(['redis_version', '8.12.0']))
      .to.contain('BLESS SET key NO-EVICT')
      .and.to.contain('no lock')
    expect(on(['redis_version', '8.10.3'])).to.not.contain('BLESS')
    expect(on(['redis_version', '9.0.0'], ['valkey_version', '9.1.0'])).to.not.contain('BLESS')
  })

  it('rlock doctor finds round-trip where the way to the server is slow', async () => {
    const proxy = await openProxy(server)
    proxy.delay(60)
    const { json } = await rlock(['doctor', '--redis', `redis://${proxy.host}:${proxy.port}`, '--json'])
    expect(json.map(({ id }) => id)).to.include('round-trip')
  })
})

describe('rlock doctor with Sentinel and a cluster', function () {
  this.timeout(60_000)

  it('rlock doctor: no finding with a healthy Sentinel; replicas where a split is possible', async () => {
    const setup = await freshSentinel({ config: ['appendonly yes', 'min-replicas-to-write 1'] })
    const urls = setup.sentinels.flatMap(({ host, port }) => ['--redis', `${host}:${port}`])
    const doctor = () => rlock(['doctor', ...urls, '--sentinel', setup.name, '--json'])
    const { json, err } = await doctor()
    expect(json, err).to.deep.equal([])
    const primary = await setup.primary()
    const redis = await openRedis(`redis://${primary.host}:${primary.port}`)
    await redis.config('SET', 'min-replicas-to-write', '0')
    expect((await doctor()).json.map(({ id }) => id)).to.deep.equal(['replicas'])
  })

  it('rlock doctor: no finding on a healthy cluster; sharded-pubsub for other channels', async function () {
    await needs(this, 'sharded pub/sub')
    const cluster = await freshCluster({ config: ['appendonly yes'] })
    const nodes = cluster.nodes.map(({ host, port }) => `redis://${host}:${port}`)
    const doctor = () => rlock(['doctor', '--redis', nodes[0]!, '--cluster', '--json'])
    const { json, err } = await doctor()
    expect(json, err).to.deep.equal([])
    const holder = await createRedisson({ redis: { nodes } })
    const deaf = await createRedisson({ redis: { nodes }, shardedSubscriptionMode: 'OFF' })
    const hold = await holder.getLock(uniqueName()).acquire()
    const waiting = deaf.getLock(hold.lockName).acquire()
    waiting.catch(() => {})
    await waitUntil('it is found', async () =>
      (await doctor()).json.some(({ id }) => id === 'sharded-pubsub'),
    )
  })
})
