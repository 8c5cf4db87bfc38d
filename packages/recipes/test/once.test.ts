import { once as event } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { LockLostError, RedisUnavailableError, WrongTypeError } from 'rlock'
import type { Waitable } from '../../../test/contract/waitables'
import { waitingSuite } from '../../../test/contract/waiting'
import { createRedisson, rejection, timed, uniqueName } from '../../../test/kit/clients'
import { clientAndRedis, redis, redisson } from '../../../test/kit/each-test'
import { internalsOf } from '../../../test/kit/internals'
import { leftIn } from '../../../test/kit/left-in'
import { Program } from '../../../test/kit/program'
import { openProxy } from '../../../test/kit/proxies'
import { SentScripts } from '../../../test/kit/sent-scripts'
import { waitUntil } from '../../../test/kit/servers/index'
import { defaultServer, NO_PROCESS, NO_USERS, skipInMemory } from '../../../test/kit/stand-in'
import { latch } from '../../../test/kit/tapped-transport'
import { InFlightError, KeyReusedError, once } from '../src/index'
import { begin } from '../src/runs'

const redisKey = (key: string) => `rlock_once:{${key}}`
const PROGRAM = '../../../packages/recipes/test/program.ts'
const LEASE = 1_000
const KEEP = { keep: 60_000 }

/** A key, with which another client runs. */
const oneRun: Waitable = {
  name: 'run',
  script: 'once/begin',
  close: (redis, key) =>
    redis.multi().hset(redisKey(key), 'owner', 'other:1').pexpire(redisKey(key), 60_000).exec(),
  open: (redis, key) =>
    redis
      .multi()
      .del(redisKey(key))
      .publish(`channel:${redisKey(key)}`, '1')
      .exec(),
  async enter(redisson, key, { waitTime = 60_000, signal }) {
    const begun = await begin(internalsOf(redisson), key, waitTime, signal)
    return begun && { leave: () => begun.lease!.release() }
  },
  isFree: async (redis, key) => (await redis.exists(redisKey(key))) === 0,
}

waitingSuite(oneRun)

describe('once', () => {
  let key: string

  clientAndRedis('test', { lockWatchdogTimeout: LEASE })
  beforeEach(() => {
    key = uniqueName('once')
  })

  it('The first of many callers of several clients runs, and all get its value', async () => {
    const clients = await Promise.all([createRedisson(), createRedisson(), createRedisson()])
    let runs = 0
    const results = await Promise.all(
      Array.from({ length: 60 }, (_, at) =>
        once(
          clients[at % 3]!,
          key,
          async () => {
            runs++
            await sleep(30)
            return { paid: 42 }
          },
          KEEP,
        ),
      ),
    )
    expect(runs).to.equal(1)
    expect(results.filter(({ first }) => first)).to.have.lengthOf(1)
    expect(new Set(results.map(({ value }) => JSON.stringify(value)))).to.deep.equal(new Set(['{"paid":42}']))
    expect(await redis.pttl(redisKey(key))).to.be.within(50_000, 60_000)
  })

  it('A thousand callers that wait cost a few commands, and a stored value costs one', async () => {
    const sent = new SentScripts()
    const client = await createRedisson({}, { transport: sent.transport })
    const { opened, open } = latch()
    const running = once(redisson, key, () => opened, KEEP)
    await waitUntil('it runs', async () => (await redis.exists(redisKey(key))) === 1)
    const waiting = Array.from({ length: 1_000 }, () =>
      once(client, key, () => expect.fail('a second run'), KEEP),
    )
    await waitUntil('all wait', () => client.waiters().length === 1_000)
    await sleep(50)
    open()
    await running
    for (const { first } of await Promise.all(waiting)) expect(first).to.equal(false)
    expect(sent.names.length).to.be.at.most(4)
    sent.names.length = 0
    await once(client, key, () => expect.fail('a second run'), KEEP)
    expect(sent.names).to.deep.equal(['once/begin'])
  })

  it('A function that throws stores nothing, and the next caller runs', async () => {
    const { opened, open } = latch()
    const failing = rejection(
      once(
        await createRedisson(),
        key,
        async () => {
          await opened
          throw new Error('declined')
        },
        KEEP,
      ),
    )
    const next = once(await createRedisson(), key, () => 'second', KEEP)
    open()
    expect((await failing).message).to.equal('declined')
    expect(await next).to.deep.equal({ first: true, value: 'second' })
  })

  it('A value without a text of JSON, or of the codec, rejects and is not stored; undefined is', async () => {
    for (const value of [() => 1, Symbol('x'), { toJSON: () => undefined }]) {
      const error = await rejection(once(redisson, key, () => value as unknown, KEEP))
      expect(error).to.be.instanceOf(TypeError)
      expect(error.message).to.include('once stores text')
    }
    const codec = { encode: () => 3 as never, decode: Number }
    expect(await rejection(once(redisson, key, () => 3, { ...KEEP, codec }))).to.be.instanceOf(TypeError)
    expect(await redis.exists(redisKey(key))).to.equal(0)
    for (const first of [true, false])
      expect(await once(redisson, key, () => undefined, KEEP)).to.deep.equal({ first, value: undefined })
  })

  it('storeError decides what is stored in place of an error', async () => {
    const storeError = (error: unknown) => ((error as Error).message === 'declined' ? 'no money' : undefined)
    const run = (message: string) =>
      once(redisson, key, () => Promise.reject<string>(new Error(message)), { ...KEEP, storeError })
    expect((await rejection(run('broken'))).message).to.equal('broken')
    expect(await run('declined')).to.deep.equal({ first: true, value: 'no money' })
    expect(await run('broken')).to.deep.equal({ first: false, value: 'no money' })
  })

  it('A call beside one in flight rejects after its waitTime, or that of its client', async () => {
    const { opened, open } = latch()
    const running = once(redisson, key, () => opened, KEEP)
    await waitUntil('it runs', async () => (await redis.exists(redisKey(key))) === 1)
    const other = await createRedisson({ waitTime: 30 })
    for (const client of [redisson, other])
      expect(await rejection(once(client, key, () => 1, { ...KEEP, waitTime: 0 }))).to.be.instanceOf(
        InFlightError,
      )
    const took = await timed(async () => {
      const error = await rejection(once(other, key, () => 1, KEEP))
      expect(error).to.include({ code: 'IN_FLIGHT', key })
    })
    expect(took).to.be.within(25, 3_000)
    open()
    await running
  })

  it('Another fingerprint with the same key rejects, and the same one gets the value', async () => {
    await once(redisson, key, () => 1, { ...KEEP, fingerprint: 'a' })
    const error = await rejection(once(redisson, key, () => 2, { ...KEEP, fingerprint: 'b' }))
    expect(error).to.be.instanceOf(KeyReusedError).and.include({ code: 'KEY_REUSED', key })
    expect(await once(redisson, key, () => 2, { ...KEEP, fingerprint: 'a' })).to.deep.equal({
      first: false,
      value: 1,
    })
  })

  it('The value is kept for as long as the caller says, and then a caller runs again', async () => {
    await once(redisson, key, () => 1, { keep: 40 })
    expect((await once(redisson, key, () => 2, { keep: 40 })).first).to.equal(false)
    await waitUntil('it is over', async () => (await redis.exists(redisKey(key))) === 0)
    expect(await once(redisson, key, () => 3, KEEP)).to.deep.equal({ first: true, value: 3 })
  })

  it('The key is renewed while the function runs, however long that is', async () => {
    const other = await createRedisson()
    const running = once(redisson, key, () => sleep(2.5 * LEASE, 'slow'), KEEP)
    await waitUntil('it runs', () => redisson.holds().length === 1)
    expect(await redis.exists(redisKey(key))).to.equal(1)
    expect(await once(other, key, () => 'twice', KEEP)).to.deep.equal({ first: false, value: 'slow' })
    await running
    await waitUntil('nothing is left', () => Object.keys(leftIn(redisson)).length === 0)
  })

  it('undefined stays undefined, a codec has the last word, and what it refuses is not stored', async () => {
    await once(redisson, key, () => {}, KEEP)
    expect(await once(redisson, key, () => {}, KEEP)).to.deep.equal({ first: false, value: undefined })
    const dates = { encode: (date: Date) => date.toISOString(), decode: (text: string) => new Date(text) }
    const other = `${key}:dates`
    const now = new Date()
    await once(redisson, other, () => now, { ...KEEP, codec: dates })
    expect((await once(redisson, other, () => new Date(0), { ...KEEP, codec: dates })).value).to.deep.equal(
      now,
    )
    const round: { self?: unknown } = {}
    round.self = round
    expect(await rejection(once(redisson, `${key}:round`, () => round, KEEP))).to.be.instanceOf(TypeError)
    expect(await redis.exists(redisKey(`${key}:round`))).to.equal(0)
  })

  it('A process killed in the run leaves it to the next one; killed after it, the value stays', async function () {
    skipInMemory(this, NO_PROCESS)
    const { url } = await defaultServer()
    const programs = [1, 2].map(() => new Program(PROGRAM, 'run', url, String(LEASE), key))
    const beginnings = programs.map((program) => program.line())
    const first = await Promise.race(beginnings.map((line, at) => line.then(() => at)))
    programs[first]!.kill()
    expect(await beginnings[1 - first]).to.equal('begun')
    const next = programs[1 - first]!
    next.say('end')
    const [, value] = /^true (.*)$/.exec(await next.line())!
    next.kill()
    expect(await once(redisson, key, () => 'third', KEEP)).to.deep.equal({ first: false, value })
  })

  it('A caller that lost the key is told, and overwrites nothing (guarantee 5)', async function () {
    skipInMemory(this, NO_USERS)
    const proxy = await openProxy(await defaultServer())
    const cutOff = await createRedisson({ redis: proxy.url, lockWatchdogTimeout: LEASE })
    cutOff.on('error', () => {})
    const { opened, open } = latch()
    const { opened: told, open: tell } = latch()
    const running = rejection(
      once(
        cutOff,
        key,
        async ({ signal }) => {
          await event(signal, 'abort')
          tell()
          await opened
          return 'late'
        },
        KEEP,
      ),
    )
    await waitUntil('it runs', async () => (await redis.exists(redisKey(key))) === 1)
    proxy.stall()
    const second = await once(
      redisson,
      key,
      async () => {
        await told
        return 'second'
      },
      KEEP,
    )
    proxy.resume()
    open()
    const error = await running
    expect(error).to.be.instanceOf(LockLostError).and.include({ result: 'late' })
    expect(second).to.deep.equal({ first: true, value: 'second' })
    expect(await redis.hget(redisKey(key), 'value')).to.equal('"second"')
  })

  it('A late holder that does not know of its loss stores nothing either', async () => {
    const { opened, open } = latch()
    const running = rejection(once(redisson, key, () => opened, KEEP))
    await waitUntil('it runs', async () => (await redis.exists(redisKey(key))) === 1)
    await redis.del(redisKey(key))
    await redis.hset(redisKey(key), 'owner', 'other:1')
    open()
    expect(await running).to.be.instanceOf(LockLostError)
    expect(await redis.hgetall(redisKey(key))).to.deep.equal({ owner: 'other:1' })
  })

  it('A lost reply of each step runs nothing twice, and stores the value (guarantee 4)', async function () {
    skipInMemory(this, NO_USERS)
    const proxy = await openProxy(await defaultServer())
    const client = await createRedisson({ redis: proxy.url })
    await once(client, `${key}:first`, () => 1, KEEP)
    const isScript = ([command]: readonly string[]) => /^eval/i.test(command!)
    const beginning = proxy.dropNextReply(isScript)
    let runs = 0
    const result = await once(
      client,
      key,
      async () => {
        runs++
        await beginning
        const finishing = proxy.dropNextReply(isScript)
        void finishing
        return 'once'
      },
      KEEP,
    )
    expect(result).to.deep.equal({ first: true, value: 'once' })
    expect(runs).to.equal(1)
    expect(await once(redisson, key, () => 'twice', KEEP)).to.deep.equal({ first: false, value: 'once' })
  })

  it('A value that could not be stored is stored in the background, while the key is still held', async function () {
    skipInMemory(this, NO_USERS)
    const proxy = await openProxy(await defaultServer())
    const client = await createRedisson({ redis: proxy.url }, { unavailableAfter: 300 })
    client.on('error', () => {})
    const running = once(
      client,
      key,
      async () => {
        // Nothing is in flight that could arrive later.
        proxy.breakOff()
        return 'kept'
      },
      KEEP,
    )
    expect(await rejection(running)).to.be.instanceOf(RedisUnavailableError)
    await proxy.accept()
    expect(await once(redisson, key, () => 'twice', KEEP)).to.deep.equal({ first: false, value: 'kept' })
  })

  it('once refuses bad arguments before it sends anything, and a key of another type', async () => {
    const bad: [unknown, unknown][] = [
      [3, KEEP],
      [() => 1, {}],
      [() => 1, { keep: 0 }],
      [() => 1, { keep: '1' }],
      [() => 1, { ...KEEP, fingerprint: 3 }],
      [() => 1, { ...KEEP, waitTime: 'x' }],
      [() => 1, { ...KEEP, storeError: 3 }],
      [() => 1, { ...KEEP, codec: {} }],
      [() => 1, { ...KEEP, ttl: 3 }],
    ]
    for (const [fn, options] of bad)
      expect(await rejection(once(redisson, key, fn as never, options as never))).to.match(
        /TypeError|RangeError/,
      )
    expect(await redis.exists(redisKey(key))).to.equal(0)
    await redis.set(redisKey(key), 'x')
    expect(await rejection(once(redisson, key, () => 1, KEEP))).to.be.instanceOf(WrongTypeError)
  })
})
