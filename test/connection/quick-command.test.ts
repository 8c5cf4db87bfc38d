import { expect } from 'chai'
import { Command, Redis } from 'ioredis'
import { quickCommandsWork, sendScript, WriteTogether } from '../../src/connection/quick-command'
import { type Standalone, startStandalone, waitUntil } from '../servers'
import { closeAll, createRedisson, openRedis, rejection, uniqueName } from '../support/clients'
import { closeProxies, openProxy } from '../support/proxies'

const UNKNOWN = '0'.repeat(40)

interface Insides {
  client: { commands: { quick: boolean } }
}

describe('the quick way of a script to the server', () => {
  let server: Standalone
  let redis: Redis

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

  const run = (script: string, keys: string[] = [], args: (string | number)[] = [], by = redis) =>
    new Promise<unknown>((resolve, reject) => sendScript(by, 'eval', script, keys, args, resolve, reject))

  it('is open with the ioredis that is installed, and a client takes it', async () => {
    expect(await quickCommandsWork(redis)).to.equal(true)
    const redisson = await createRedisson({ redis: server.url })
    expect((redisson as unknown as Insides).client.commands.quick).to.equal(true)
  })

  it('carries keys and arguments of any text, and numbers', async () => {
    const texts = ['', ' ', 'a\r\n$3\r\nfoo', 'grüße 🔒', '*1\r\n', '\0']
    const back =
      'local all = {} for _, key in ipairs(KEYS) do all[#all + 1] = key end ' +
      'for _, arg in ipairs(ARGV) do all[#all + 1] = arg end return all'
    expect(await run(back, texts, [...texts, 0, -1, 2 ** 53 - 1])).to.deep.equal([
      ...texts,
      ...texts,
      '0',
      '-1',
      '9007199254740991',
    ])
  })

  it('decodes what comes back', async () => {
    expect(await run("return { 1, 'grüße', false, { 'two', 3 } }")).to.deep.equal([
      1,
      'grüße',
      null,
      ['two', 3],
    ])
    expect(await run("return 'text'")).to.equal('text')
    expect(await run('return nil')).to.equal(null)
    expect(await run('return 42')).to.equal(42)
  })

  it('brings back errors', async () => {
    const name = uniqueName()
    await redis.set(name, 'text')
    const wrongType = await rejection(run("return redis.call('hget', KEYS[1], 'a')", [name]))
    expect(wrongType.message).to.match(/WRONGTYPE/)
    const unknown = new Promise((resolve, reject) =>
      sendScript(redis, 'evalsha', UNKNOWN, [], [], resolve, reject),
    )
    expect((await rejection(unknown)).message).to.match(/^NOSCRIPT/)
  })

  it('sends again what a broken connection left unanswered, in order', async () => {
    const proxy = await openProxy(server)
    const by = await openRedis(proxy.url)
    by.on('error', () => {})
    await by.ping()
    const name = uniqueName()
    proxy.stallReplies()
    const answers = [1, 2, 3].map((each) =>
      run("return redis.call('rpush', KEYS[1], ARGV[1])", [name], [each], by),
    )
    await waitUntil('the first copies are there', async () => (await redis.llen(name)) === 3)
    proxy.cut()
    proxy.resume()
    expect(await Promise.all(answers)).to.deep.equal([4, 5, 6])
    expect(await redis.lrange(name, 0, -1)).to.deep.equal(['1', '2', '3', '1', '2', '3'])
  })

  it('answers nobody twice, and fails what is unanswered when the connection is closed', async () => {
    const proxy = await openProxy(server)
    const by = await openRedis(proxy.url)
    await by.ping()
    proxy.stall()
    const unanswered = rejection(run('return 1', [], [], by))
    by.disconnect()
    expect((await unanswered).message).to.match(/closed/i)
  })

  it('writes what is sent in one turn together, the first at once, and keeps the order', async () => {
    await redis.ping()
    const { stream } = redis
    const writes = new WriteTogether(redis)
    const name = uniqueName()
    const count = 100
    const packets = async () => Number(/total_reads_processed:(\d+)/.exec(await redis.info('stats'))?.[1])
    const before = await packets()
    const answers = Array.from({ length: count }, (_, index) => {
      writes.add()
      return run("return redis.call('rpush', KEYS[1], ARGV[1])", [name], [index])
    })
    expect(await Promise.all(answers)).to.deep.equal(Array.from({ length: count }, (_, index) => index + 1))
    // The command that looks is read by itself.
    expect((await packets()) - before).to.be.within(2, count / 10)
    expect(stream.writableCorked).to.equal(0)
    expect(await redis.lrange(name, 0, -1)).to.deep.equal(
      Array.from({ length: count }, (_, index) => String(index)),
    )
  })

  describe('with an ioredis that does not carry such commands', () => {
    const { sendCommand } = Redis.prototype
    afterEach(() => {
      Redis.prototype.sendCommand = sendCommand
    })

    const spoiled: Record<string, (command: Command) => unknown> = {
      'refuses them': (command) => {
        if (!(Object.getPrototypeOf(command) === Command.prototype)) throw new TypeError('no command of mine')
        return undefined
      },
      'never answers them': (command) =>
        Object.getPrototypeOf(command) === Command.prototype ? undefined : Promise.resolve(),
    }
    for (const [what, spoil] of Object.entries(spoiled))
      it(`finds out where it ${what}, and goes the ordinary way`, async () => {
        Redis.prototype.sendCommand = function (this: Redis, command, stream) {
          return (spoil(command) as ReturnType<typeof sendCommand>) ?? sendCommand.call(this, command, stream)
        }
        expect(await quickCommandsWork(redis)).to.equal(false)
        const redisson = await createRedisson({ redis: server.url })
        expect((redisson as unknown as Insides).client.commands.quick).to.equal(false)
        const name = uniqueName()
        await redisson.getLock(name).withLock(async (hold) => {
          expect(await redis.hgetall(name)).to.deep.equal({ [`${redisson.getId()}:${hold.threadId}`]: '1' })
        })
        expect(await redis.exists(name)).to.equal(0)
      })
  })
})
