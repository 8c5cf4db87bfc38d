import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { createRedisson, openRedis, rejection, uniqueName } from '../../../test/kit/clients'
import { redis, redisAndName } from '../../../test/kit/each-test'
import { freshServer, waitUntil } from '../../../test/kit/servers/index'
import { NO_PROCESS, skipInMemory } from '../../../test/kit/stand-in'
import { once, takeSlot } from '../src/index'
import { luaSources } from '../src/lua.generated'

type Word = string | number

/** A script with what it takes, after the commands that prepare its keys. `k` is the key. */
interface Case {
  readonly given?: (k: string) => Word[][]
  readonly keys?: (k: string) => string[]
  readonly args: Word[]
}

const OWNER = 'client:1'
const MESSAGE = ['channel', 'publish']
const LEASE = 60_000
const later = Date.now() + LEASE

const CASES: Record<keyof typeof luaSources, Case> = {
  'slots/take': {
    given: (k) => [['zadd', k, 0, 'other:1', later, 'other:1:lease']],
    args: [3, OWNER, LEASE],
  },
  'slots/renew': {
    given: (k) => [['zadd', k, 1, OWNER, later, `${OWNER}:lease`]],
    args: [LEASE, OWNER],
  },
  'slots/release': {
    given: (k) => [['zadd', k, 1, OWNER, later, `${OWNER}:lease`, 0, 'other:1', later, 'other:1:lease']],
    args: [OWNER, ...MESSAGE],
  },
  'election/announce': {
    given: (k) => [['hset', k, OWNER, 1]],
    keys: (k) => [k, `${k}:leader`],
    args: [OWNER, 'label', 7, ...MESSAGE],
  },
  'election/leader': {
    given: (k) => [['hset', k, OWNER, 1]],
    keys: (k) => [k, `${k}:leader`, `${k}:token`],
    args: [],
  },
  'once/begin': { args: [OWNER, LEASE] },
  'once/renew': { given: (k) => [['hset', k, 'owner', OWNER]], args: [LEASE, OWNER] },
  'once/finish': {
    given: (k) => [['hset', k, 'owner', OWNER]],
    args: [OWNER, 'value', 'fingerprint', LEASE, ...MESSAGE],
  },
  'once/release': { given: (k) => [['hset', k, 'owner', OWNER]], args: [OWNER, ...MESSAGE] },
}

/** These answer a second copy with "it is not there", which the client takes for success after a broken connection. */
const RELEASES = ['slots/release', 'once/release']

describe('A script of the recipes', () => {
  redisAndName()

  async function prepared(name: keyof typeof luaSources) {
    const { given = () => [], keys = (k) => [k], args } = CASES[name]
    const key = uniqueName('script')
    for (const [command, ...words] of given(key)) await redis.call(String(command), ...words.map(String))
    const all = keys(key)
    const run = () => redis.eval(luaSources[name], all.length, ...all, ...args.map(String))
    const state = async () => await Promise.all(all.map((each) => contentOf(each)))
    return { key, run, state }
  }

  /** Without the times of leases, which begin again. */
  async function contentOf(key: string): Promise<unknown> {
    const type = await redis.type(key)
    if (type === 'hash') return await redis.hgetall(key)
    if (type !== 'zset') return type
    const all = await redis.zrange(key, '0', '-1', 'WITHSCORES')
    return all.filter((_, at) => at % 2 === 0 || Number(all[at]) < 10_000)
  }

  for (const name of Object.keys(CASES) as (keyof typeof luaSources)[]) {
    it(`${name}, applied twice, has the effect of once (guarantee 4)`, async () => {
      const { run, state } = await prepared(name)
      const first = await run()
      const applied = await state()
      const second = await run()
      expect(await state()).to.deep.equal(applied)
      if (RELEASES.includes(name)) expect([first, second]).to.deep.equal([1, 0])
      else if (!name.endsWith('/renew')) expect(second).to.deep.equal(first)
    })

    it(`${name} refuses a key of another type, and leaves it`, async () => {
      const { key, run } = await prepared(name)
      await redis.set(key, 'text')
      const answer = await run().catch((error: Error) => error.message)
      if (name.endsWith('/renew')) expect(answer).to.deep.equal([0])
      else expect(answer).to.match(/WRONGTYPE/)
      expect(await redis.get(key)).to.equal('text')
    })
  }

  it('A slot and a run are renewed and released by a server without free memory', async function () {
    skipInMemory(this, NO_PROCESS)
    const server = await freshServer()
    const full = await openRedis(server.url)
    const redisson = await createRedisson({ redis: server.url, lockWatchdogTimeout: 600 })
    const slot = await takeSlot(redisson, 'slots', 3)
    let end!: (error: Error) => void
    const failing = once(redisson, 'run', () => new Promise((_, reject) => (end = reject)), {
      keep: 60_000,
    })
    await waitUntil('it runs', () => end !== undefined)
    await full.config('SET', 'maxmemory', '1')
    await sleep(2_000)
    expect(redisson.holds().map(({ kind }) => kind)).to.deep.equal(['slot', 'once'])
    await slot.release()
    end(new Error('enough'))
    expect((await rejection(failing)).message).to.equal('enough')
    expect(await full.keys('*')).to.deep.equal([])
  })

  it('A late copy of once/begin, after the result, gives the result and takes nothing', async () => {
    const { key, run } = await prepared('once/begin')
    await redis.hset(key, { value: '1', fingerprint: 'f', by: OWNER })
    expect(await run()).to.deep.equal([2, '1', 'f'])
    expect(await redis.hget(key, 'owner')).to.equal(null)
  })

  it('A late copy of election/announce, after the term, notes nothing', async () => {
    const { key, run } = await prepared('election/announce')
    await redis.del(key)
    expect(await run()).to.equal(0)
    expect(await redis.exists(`${key}:leader`)).to.equal(0)
  })
})
