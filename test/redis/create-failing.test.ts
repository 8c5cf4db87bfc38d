import { expect } from 'chai'
import { RedisRefusedError, RedisUnavailableError } from '../../src/index'
import { Redisson } from '../../src/redisson'
import { rejection, timed } from '../kit/clients'
import { openBlackHole, runsToItsEnd } from '../kit/proves-locking'
import { openProxy } from '../kit/proxies'
import { freePorts } from '../kit/servers/free-ports'
import { freshServer, ownServer, sharedCluster, sharedSentinel, withClient } from '../kit/servers/index'
import { TlsProxy } from '../kit/tls-proxy'

/** Within a connect timeout of 10 s nothing below may sit out even half of it. */
const QUICKLY = 5_000

describe('Redisson.create that fails', () => {
  const server = ownServer({ requirepass: 'right' })
  let nothing: number

  before(async () => {
    ;[nothing] = (await freePorts(1)) as [number]
  })

  async function refusal(redis: unknown): Promise<Error> {
    let error = new Error()
    const took = await timed(async () => {
      error = await rejection(Redisson.create({ redis: redis as string }))
    })
    expect(took).to.be.below(QUICKLY)
    return error
  }

  async function unavailable(
    redis: unknown,
    reason: RegExp,
    address: string,
    kind: typeof RedisUnavailableError | typeof RedisRefusedError = RedisUnavailableError,
  ): Promise<void> {
    const error = await refusal(redis)
    expect(error).to.be.instanceOf(kind)
    expect(error.message).to.match(reason).and.contain(address)
    expect(error.message.match(/Redis at/g), error.message).to.have.length(1)
    expect(error.cause).to.be.instanceOf(Error)
  }
  const refused = (redis: unknown, reason: RegExp, address: string) =>
    unavailable(redis, reason, address, RedisRefusedError)

  it('Redisson.create rejects with the address and the reason where nothing listens', async () => {
    const address = `127.0.0.1:${nothing}`
    const connectionRefused = /could not be reached: .*(ECONNREFUSED|refused)/
    await unavailable(`redis://${address}`, connectionRefused, address)
    await unavailable({ nodes: [{ host: '127.0.0.1', port: nothing }] }, connectionRefused, address)
    await unavailable(
      { sentinels: [{ host: '127.0.0.1', port: nothing }], name: 'm' },
      connectionRefused,
      address,
    )
    await unavailable('redis+unix:///nowhere/redis.sock', /ENOENT/, '/nowhere/redis.sock')
    await unavailable('redis://nowhere.invalid', /ENOTFOUND|EAI_AGAIN/, 'nowhere.invalid:6379')
  })

  it('create() rejects and names the address if the server accepts and never answers', async () => {
    const hole = await openBlackHole()
    const { host, port } = hole
    const address = `${host}:${port}`
    const connectTimeout = 300
    await unavailable({ host, port, connectTimeout }, /no answer within 300 ms/, address)
    await unavailable(
      { nodes: [{ host, port }], options: { redisOptions: { connectTimeout } } },
      /no answer within 300 ms/,
      address,
    )
    await unavailable(
      { sentinels: [{ host, port }], name: 'm', connectTimeout },
      /no answer within 300 ms/,
      address,
    )
  })

  it('Redisson.create names the server that a cluster or a sentinel names, and natMap', async () => {
    const hole = await openBlackHole()
    const { sentinels } = await sharedSentinel()
    const ofSentinels = sentinels.map(({ host, port }) => ({ host, port }))
    for (const [port, reason] of [
      [hole.port, 'no answer within 300 ms'],
      [nothing, 'ECONNREFUSED'],
    ] as const) {
      const announced = ['cluster-announce-ip 127.0.0.1', `cluster-announce-port ${port}`]
      const node = await freshServer({ config: ['cluster-enabled yes', ...announced] })
      await withClient(node, (client) => client.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383'))
      const connectTimeout = 300
      const options = { redisOptions: { connectTimeout } }
      const named = new RegExp(`names the server 127.0.0.1:${port}: .*${reason}.*natMap`)
      await unavailable({ nodes: [{ host: node.host, port: node.port }], options }, named, `${node.port}`)
      const name = `silent-${port}`
      for (const sentinel of sentinels)
        await withClient(sentinel, (client) =>
          client.call('SENTINEL', 'MONITOR', name, '127.0.0.1', `${port}`, '2'),
        )
      await unavailable({ sentinels: ofSentinels, name, connectTimeout }, named, name)
      for (const sentinel of sentinels)
        await withClient(sentinel, (client) => client.call('SENTINEL', 'REMOVE', name))
    }
  })

  it('Redisson.create without TLS at a port that expects it says so', async () => {
    const proxy = await TlsProxy.open(server)
    await unavailable(`redis://127.0.0.1:${proxy.port}`, /rediss:\/\/ or tls/, `127.0.0.1:${proxy.port}`)
  })

  it('Redisson.create at a server that takes no more clients says what to raise', async () => {
    const full = await freshServer()
    await withClient(full, async (client) => {
      await client.config('SET', 'maxclients', '1')
      for (let times = 0; times < 5; times++) await unavailable(full.url, /maxclients/, `${full.port}`)
    })
  })

  it('Redisson.create says where a sentinel names a replica', async () => {
    const { nodes, sentinels } = await sharedSentinel()
    const roles = await Promise.all(nodes.map((node) => withClient(node, (client) => client.role())))
    const { host, port } = nodes[roles.findIndex(([role]) => role === 'slave')]!
    const [sentinel] = sentinels as [(typeof sentinels)[0]]
    const ask = (...words: string[]) => withClient(sentinel, (client) => client.call('SENTINEL', ...words))
    await ask('MONITOR', 'replica', host, `${port}`, '2')
    try {
      const redis = { sentinels: [{ host: sentinel.host, port: sentinel.port }], name: 'replica' }
      await unavailable(redis, /which is a replica(?!.*natMap)/, `the server ${host}:${port}`)
    } finally {
      await ask('REMOVE', 'replica')
    }
  })

  it('create() rejects and names the address if the server hangs after the connect', async () => {
    const proxy = await openProxy(server)
    const { host, port } = proxy
    // Our first question after the connection was made is answered by a break, the reconnect by silence.
    const asked = proxy.dropNextReply(([command]) => command === 'ping')
    const stalled = asked.then(() => proxy.stall())
    await unavailable(
      { host, port, password: 'right', connectTimeout: 500 },
      /no answer within 500 ms/,
      `${host}:${port}`,
    )
    await stalled
  })

  it('create() rejects and names the address with a missing or wrong login', async () => {
    const { host, port } = server
    const address = `${host}:${port}`
    await refused({ host, port }, /refused the client: NOAUTH/, address)
    await refused({ host, port, password: 'wrong' }, /refused the client: WRONGPASS/, address)
    await refused(`redis://eve:wrong@${address}`, /refused the client: WRONGPASS/, address)
    await refused({ host, port, password: 'wrong', protocol: 2 }, /WRONGPASS/, address)
    await refused({ nodes: [{ host, port }] }, /NOAUTH/, address)
  })

  it('create() rejects and names the address for a database that is not there', async () => {
    await refused(`${server.url}/99`, /DB index is out of range/, `${server.port}`)
  })

  it('create() rejects and names the address for a primary the sentinels do not know', async () => {
    const sentinels = (await sharedSentinel()).sentinels.map(({ host, port }) => ({ host, port }))
    await unavailable(
      { sentinels, name: 'unknown' },
      /know no primary of this name/,
      'unknown by Sentinel at',
    )
  })

  it('create() rejects a node or a sentinel given as a plain address, and says what to give', async () => {
    const [node] = (await sharedCluster()).nodes
    const inCluster = await refusal(node!.url)
    expect(inCluster).to.be.instanceOf(TypeError)
    expect(inCluster.message).to.contain(`${node!.port}`).and.contain('{ nodes: [...] }')

    const [sentinel] = (await sharedSentinel()).sentinels
    const atSentinel = await refusal(sentinel!.url)
    expect(atSentinel).to.be.instanceOf(TypeError)
    expect(atSentinel.message).to.contain('{ sentinels: [...], name }')
  })

  it('create() rejects and names the address for a plain server given as a cluster', async () => {
    const { host, port } = server
    await refused(
      { nodes: [{ host, port, password: 'right' }] },
      /cluster support disabled/,
      `${host}:${port}`,
    )
  })

  it('Redisson.create at a cluster node without slots may be tried again later (V171)', async () => {
    const config = ['cluster-enabled yes', 'cluster-config-file without-slots.conf']
    const node = await freshServer({ config })
    const nodes = [{ host: node.host, port: node.port }]
    await unavailable({ nodes }, /no node that has slots/, String(node.port))
  })

  it('Redisson.create that rejects leaves nothing behind, and the process ends by itself', async () => {
    const hole = await openBlackHole()
    const [clusterNode] = (await sharedCluster()).nodes
    const { host, port } = server
    const at = { host: hole.host, port: hole.port }
    const short = { connectTimeout: 200 }
    const sources = [
      { host: '127.0.0.1', port: nothing },
      { ...at, ...short },
      { nodes: [{ host: '127.0.0.1', port: nothing }] },
      { nodes: [at], options: { redisOptions: short } },
      { sentinels: [{ host: '127.0.0.1', port: nothing }], name: 'm' },
      { sentinels: [at], name: 'm', ...short },
      { host, port, password: 'wrong' },
      clusterNode!.url,
    ]
    const output = await runsToItsEnd(`
      const loaded = await import('./src/index.ts')
      const { Redisson } = loaded.default ?? loaded
      for (const redis of ${JSON.stringify(sources)}) {
        const error = await Redisson.create({ redis }).catch((error) => error)
        console.log(error.name)
      }
    `)
    const lines = output.split('\n').filter((line) => /^\w+Error$/.test(line))
    expect(lines).to.deep.equal([
      ...sources.slice(2).map(() => 'RedisUnavailableError'),
      'RedisRefusedError',
      'TypeError',
    ])
  })

  it('A process ends at once after create() has rejected behind sentinels that are away (V212)', async () => {
    const { host, port } = await openBlackHole()
    const [refusing, silent] = [
      { host: '127.0.0.1', port: nothing },
      { host, port },
    ]
    for (const sentinels of [[refusing, refusing], [silent]]) {
      const redis = { sentinels, name: 'm', connectTimeout: 300 }
      const output = await runsToItsEnd(`
        const loaded = await import('./src/index.ts')
        const { Redisson } = loaded.default ?? loaded
        await Redisson.create({ redis: ${JSON.stringify(redis)} }).catch(() => {})
        const rejected = performance.now()
        process.on('exit', () => console.log('ended after', performance.now() - rejected))
      `)
      expect(Number(/ended after (.+)/.exec(output)?.[1])).to.be.below(1_500)
    }
  })
})
