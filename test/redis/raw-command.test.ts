import { expect } from 'chai'
import calculateSlot from 'cluster-key-slot'
import { Cluster, Command, Redis } from 'ioredis'
import type { Redisson } from '../../src/index'
import type { CommandConnection } from '../../src/redis/send/command-connection'
import { RawCommand, rawCommandsWork } from '../../src/redis/send/raw-command'
import type { ScriptTransport } from '../../src/scripts/transport'
import { createRedisson, openRedis, rejection, uniqueName } from '../kit/clients'
import { name, redis, redisAndName } from '../kit/each-test'
import { internalsOf } from '../kit/internals'
import { openProxy } from '../kit/proxies'
import { ownCluster, ownServer, waitUntil, withClient } from '../kit/servers/index'

const UNKNOWN = '0'.repeat(40)

const usesFastPath = (redisson: Redisson) =>
  (internalsOf(redisson).connections.transport as CommandConnection).usesFastPath

const withoutFastPath = (transport: ScriptTransport) => Object.assign(transport, { usesFastPath: false })

describe('Raw commands', () => {
  const server = ownServer()

  redisAndName('test', { server })

  const run = (
    script: string,
    keys: string[] = [],
    args: (string | number)[] = [],
    by: Redis | Cluster = redis,
  ) =>
    new Promise<unknown>((resolve, reject) =>
      by.sendCommand(new RawCommand('eval', script, keys, args, resolve, reject)),
    )

  it('Raw commands work with the installed ioredis, and a client uses them', async () => {
    expect(await rawCommandsWork(redis)).to.equal(true)
    const redisson = await createRedisson({ redis: server.url })
    expect(usesFastPath(redisson)).to.equal(true)
  })

  it('A client whose fast path is switched off locks by ordinary commands', async () => {
    const redisson = await createRedisson({ redis: server.url }, { transport: withoutFastPath })
    expect(usesFastPath(redisson)).to.equal(false)
    await redisson.getLock(name).withLock(async () => {
      expect(await redis.exists(name)).to.equal(1)
    })
    expect(await redis.exists(name)).to.equal(0)
  })

  it('A raw command carries keys and arguments of any text, and numbers', async () => {
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

  it('A raw command decodes what comes back', async () => {
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

  it('A raw command rejects with the error of the server', async () => {
    await redis.set(name, 'text')
    const wrongType = await rejection(run("return redis.call('hget', KEYS[1], 'a')", [name]))
    expect(wrongType.message).to.match(/WRONGTYPE/)
    const unknown = new Promise((resolve, reject) =>
      redis.sendCommand(new RawCommand('evalsha', UNKNOWN, [], [], resolve, reject)),
    )
    expect((await rejection(unknown)).message).to.match(/^NOSCRIPT/)
  })

  it('Raw commands that a broken connection left unanswered are sent again in order', async () => {
    const proxy = await openProxy(server)
    const by = await openRedis(proxy.url)
    by.on('error', () => {})
    await by.ping()
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

  it('A raw command is answered once, and fails if unanswered when its connection closes', async () => {
    const proxy = await openProxy(server)
    const by = await openRedis(proxy.url)
    await by.ping()
    proxy.stall()
    const unanswered = rejection(run('return 1', [], [], by))
    by.disconnect()
    expect((await unanswered).message).to.match(/closed/i)
  })

  it('Raw commands of one turn are written together, the first at once, in order', async () => {
    await redis.ping()
    const { stream } = redis
    const count = 100
    const packets = async () => Number(/total_reads_processed:(\d+)/.exec(await redis.info('stats'))?.[1])
    const before = await packets()
    const answers = Array.from({ length: count }, (_, index) =>
      run("return redis.call('rpush', KEYS[1], ARGV[1])", [name], [index]),
    )
    expect(await Promise.all(answers)).to.deep.equal(Array.from({ length: count }, (_, index) => index + 1))
    // The command that looks is read by itself.
    expect((await packets()) - before).to.be.within(2, count / 10)
    expect(stream.writableCorked).to.equal(0)
    expect(await redis.lrange(name, 0, -1)).to.deep.equal(
      Array.from({ length: count }, (_, index) => String(index)),
    )
  })

  describe('Raw commands in a cluster', () => {
    const setup = ownCluster()
    let cluster: Cluster

    beforeEach(async () => {
      cluster = new Cluster(setup.nodes.map(({ host, port }) => ({ host, port })))
      await cluster.ping()
    })
    afterEach(() => cluster.disconnect())

    const PUSH = "return redis.call('rpush', KEYS[1], ARGV[1])"

    it('Raw commands work in a cluster', async () => {
      for (const node of cluster.nodes('master')) expect(await rawCommandsWork(node)).to.equal(true)
      const redisson = await createRedisson({ redis: cluster })
      expect(usesFastPath(redisson)).to.equal(true)
    })

    it('A raw command goes to the node of its key, and writes to a node are coalesced', async () => {
      const names = Array.from({ length: 300 }, () => uniqueName())
      // Connects to all of them.
      await Promise.all(names.map((name) => run(PUSH, [name], ['before'], cluster)))
      for (const node of setup.nodes) await withClient(node, (client) => client.config('RESETSTAT'))
      expect(await Promise.all(names.map((name) => run(PUSH, [name], ['x'], cluster)))).to.deep.equal(
        names.map(() => 2),
      )
      for (const node of setup.nodes) {
        const stats = await withClient(node, (client) => client.info('all'))
        expect(stats).not.to.match(/errorstat_MOVED/)
        expect(Number(/cmdstat_eval:calls=(\d+)/.exec(stats)?.[1])).to.be.above(60)
        // Some of it is the talk of the nodes among themselves.
        expect(Number(/total_reads_processed:(\d+)/.exec(stats)?.[1])).to.be.below(40)
      }
    })

    it('A raw command in a cluster follows ASK and MOVED', async () => {
      const slot = calculateSlot(name)
      expect(await run(PUSH, [name], ['before'], cluster)).to.equal(1)
      const target = (setup.nodes.indexOf(await setup.ownerOf(slot)) + 1) % 3
      await setup.migrateSlot(slot, target, async () => {
        expect(await run(PUSH, [name], ['asked'], cluster)).to.equal(2)
      })
      expect(await run(PUSH, [name], ['moved'], cluster)).to.equal(3)
      expect(await cluster.lrange(name, 0, -1)).to.deep.equal(['before', 'asked', 'moved'])
    })

    it('A raw command in a cluster goes to another node when one is gone, and fails when all are', async () => {
      const proxies = await Promise.all(setup.nodes.map((node) => openProxy(node)))
      const natMap = Object.fromEntries(
        setup.nodes.map(({ host, port }, index) => [
          `${host}:${port}`,
          { host: proxies[index]!.host, port: proxies[index]!.port },
        ]),
      )
      const by = new Cluster([natMap[`${setup.nodes[0]!.host}:${setup.nodes[0]!.port}`]!], {
        natMap,
        clusterRetryStrategy: () => null,
      })
      by.on('error', () => {})
      try {
        const name = uniqueName()
        expect(await run(PUSH, [name], [1], by)).to.equal(1)
        const owner = setup.nodes.indexOf(await setup.ownerOf(calculateSlot(name)))
        proxies[owner]!.cut()
        expect(await run(PUSH, [name], [2], by)).to.equal(2)
        for (const proxy of proxies) await proxy.stop()
        expect((await rejection(run(PUSH, [name], [3], by))).message).to.match(/clos|refus|fail|end/i)
      } finally {
        by.disconnect()
      }
    })
  })

  it('A raw command can be traced by tools that wrap its resolve and reject', async () => {
    await redis.ping()
    const { sendCommand } = Redis.prototype
    const traced: string[] = []
    // As OpenTelemetry's instrumentation of ioredis does it.
    Redis.prototype.sendCommand = function (this: Redis, command, stream) {
      const ends = command as unknown as Record<'resolve' | 'reject', (value: unknown) => void>
      for (const end of ['resolve', 'reject'] as const) {
        const original = ends[end]
        ends[end] = (value) => {
          traced.push(`${command.name} ${end}`)
          original(value)
        }
      }
      return sendCommand.call(this, command, stream)
    }
    try {
      expect(await run('return 42')).to.equal(42)
      expect((await rejection(run('return redis.error_reply("MY own")'))).message).to.equal('MY own')
    } finally {
      Redis.prototype.sendCommand = sendCommand
    }
    expect(traced).to.deep.equal(['eval resolve', 'eval reject'])
  })

  describe('Raw commands with an ioredis that does not carry them', () => {
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
      it(`A client whose ioredis has no raw commands finds out where it ${what}`, async () => {
        Redis.prototype.sendCommand = function (this: Redis, command, stream) {
          return (spoil(command) as ReturnType<typeof sendCommand>) ?? sendCommand.call(this, command, stream)
        }
        expect(await rawCommandsWork(redis)).to.equal(false)
        const redisson = await createRedisson({ redis: server.url })
        expect(usesFastPath(redisson)).to.equal(false)
        await redisson.getLock(name).withLock(async (hold) => {
          expect(await redis.hgetall(name)).to.deep.equal({ [`${redisson.getId()}:${hold.threadId}`]: '1' })
        })
        expect(await redis.exists(name)).to.equal(0)
      })
  })
})
