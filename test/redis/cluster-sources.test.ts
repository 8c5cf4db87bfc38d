import { join } from 'node:path'
import { expect } from 'chai'
import { Cluster, type ClusterOptions } from 'ioredis'
import { Cluster as Cluster5 } from 'ioredis5'
import { Redisson } from '../../src/redisson'
import { closeAll, createRedisson, rejection, uniqueName } from '../kit/clients'
import { internalsOf } from '../kit/internals'
import { connected, type Look, provesLocking, subscribersOn } from '../kit/proves-locking'
import {
  type ClusterSetup,
  freshCluster,
  sharedCluster,
  skipInContainers,
  waitUntil,
  withClient,
} from '../kit/servers/index'

describe('A cluster may be given as', () => {
  let setup: ClusterSetup
  let look: Look
  const opened: { disconnect(): void }[] = []

  before(async () => {
    setup = await sharedCluster()
    const watching = new Cluster(addresses())
    look = {
      at: watching,
      subscribers: (channel) => subscribersOn(setup.nodes, channel),
    }
  })
  afterEach(async () => {
    await closeAll()
    for (const instance of opened.splice(0)) instance.disconnect()
  })
  after(() => (look.at as Cluster).disconnect())

  const addresses = () => setup.nodes.map(({ host, port }) => ({ host, port }))

  it('A multi lock refuses one lock by two start nodes of the cluster (V72)', async () => {
    const [first, second] = addresses()
    const one = await createRedisson({ redis: { nodes: [first!] } })
    const two = await createRedisson({ redis: { nodes: [second!] } })
    const name = uniqueName()
    expect(() => one.getMultiLock(one.getLock(name), two.getLock(name))).to.throw(RangeError, 'twice')
    await one.getMultiLock(one.getLock(name), two.getLock(uniqueName())).withLock(() => {})
  })

  function own(options: ClusterOptions): Cluster {
    const instance = new Cluster(addresses(), options as object)
    instance.on('error', () => {})
    opened.push(instance)
    return instance
  }

  const plain = () => createRedisson({ redis: { nodes: addresses() } })

  it('A cluster may be given as nodes: objects, URLs, or only one of them', async () => {
    await provesLocking(
      await plain(),
      await createRedisson({ redis: { nodes: [setup.nodes[1]!.url] } }),
      look,
    )
  })

  it('A cluster may be given as nodes: a URL of Valkey, or the unix socket of one of them', async function () {
    await skipInContainers(this, 'its sockets are files of its own')
    const own = await freshCluster({ config: ['unixsocket redis.sock'] })
    const [first] = own.nodes
    const watching = new Cluster([{ host: first!.host, port: first!.port }])
    opened.push(watching)
    const [, directory] = await withClient(first!, (client) => client.config('GET', 'dir'))
    const socket = `redis+unix://${join(directory as string, 'redis.sock')}`
    await provesLocking(
      await createRedisson({ redis: { nodes: [socket] } }),
      await createRedisson({ redis: { nodes: [new URL(first!.url.replace('redis:', 'valkey:'))] } }),
      { at: watching, subscribers: (channel) => subscribersOn(own.nodes, channel) },
    )
  })

  it('A cluster may be given as nodes with options that would harm locks, without effect', async () => {
    const options: ClusterOptions = {
      scaleReads: 'slave',
      enableAutoPipelining: true,
      enableOfflineQueue: false,
      maxRedirections: 0,
      clusterRetryStrategy: () => null,
      redisOptions: { commandTimeout: 1, maxRetriesPerRequest: 0 },
    }
    await provesLocking(
      await createRedisson({ redis: { nodes: addresses(), options } }),
      await createRedisson({ redis: { nodes: addresses(), options } }),
      look,
    )
  })

  it('A cluster may be given as nodes with own options beside address, without effect', async () => {
    const nodes = addresses().map((address) => ({
      ...address,
      commandTimeout: 1,
      socketTimeout: 1,
      monitor: true,
    }))
    await provesLocking(await createRedisson({ redis: { nodes } }), await plain(), look)
    const prefixed = addresses().map((address) => ({ ...address, keyPrefix: 'app:' }))
    const error = await rejection(Redisson.create({ redis: { nodes: prefixed } }))
    expect(error).to.be.instanceOf(TypeError)
    expect(error.message).to.contain('nameMapper')
  })

  const options: [string, ClusterOptions][] = [
    ['scaleReads', { scaleReads: 'slave' }],
    ['enableAutoPipelining', { enableAutoPipelining: true }],
    ['commandTimeout', { redisOptions: { commandTimeout: 50 } }],
    ['maxRetriesPerRequest', { redisOptions: { maxRetriesPerRequest: 0 } }],
    ['lazyConnect', { lazyConnect: true }],
    ['shardedSubscribers', { shardedSubscribers: true }],
  ]
  for (const [what, given] of options)
    it(`A cluster may be given as an ioredis Cluster with ${what}`, async () => {
      const holder = await createRedisson({ redis: own(given) })
      await provesLocking(holder, await plain(), look)
      await provesLocking(await plain(), holder, look)
    })

  it('An ioredis Cluster with a keyPrefix, here or there, is refused', async () => {
    const refused: [ClusterOptions, string][] = [
      [{ keyPrefix: 'app:' }, 'nameMapper'],
      [{ redisOptions: { keyPrefix: 'app:' } }, 'nameMapper'],
    ]
    for (const [given, reason] of refused) {
      const error = await rejection(Redisson.create({ redis: own({ ...given, lazyConnect: true }) }))
      expect(error).to.be.instanceOf(TypeError)
      expect(error.message).to.contain(reason)
    }
  })

  it('An ioredis Cluster whose start nodes are gone gives its current ones', async () => {
    // The first address answers no client; ioredis has found the others by the second.
    const instance = new Cluster([{ host: '127.0.0.1', port: 1 }, addresses()[0]!])
    opened.push(instance)
    await instance.get('connected')
    Object.assign(instance, { startupNodes: [{ host: '127.0.0.1', port: 1 }] })
    await provesLocking(await createRedisson({ redis: instance }), await plain(), look)
  })

  it('A cluster may be given as an ioredis Cluster of another version', async () => {
    const instance = new Cluster5(addresses(), { redisOptions: { commandTimeout: 50 } })
    opened.push(instance)
    await instance.get('connected')
    await provesLocking(await createRedisson({ redis: instance }), await plain(), look)
  })

  it('A cluster may be given as an ioredis Cluster, which is left as it was', async () => {
    const instance = own({})
    await instance.get('connected')
    // Its connections to nodes are made when first used.
    await Promise.all(instance.nodes().map((node) => node.ping()))
    const others = await Promise.all(setup.nodes.map((node) => withClient(node, connected)))
    const listeners = () => instance.eventNames().map((name) => [name, instance.listenerCount(name)])
    const before = { listeners: listeners(), options: { ...instance.options }, nodes: instance.nodes() }
    const sent: string[] = []
    for (const target of [instance, ...instance.nodes()]) {
      const sendCommand = target.sendCommand.bind(target)
      target.sendCommand = (command: never, ...rest: never[]) => {
        sent.push((command as { name: string }).name)
        return sendCommand(command, ...rest)
      }
    }

    const redisson = await Redisson.create({ redis: instance })
    await redisson.getLock(uniqueName()).withLock(() => {})
    await redisson.shutdown()

    expect(sent).to.deep.equal([])
    expect({ listeners: listeners(), options: instance.options, nodes: instance.nodes() }).to.deep.equal(
      before,
    )
    expect(instance.status).to.equal('ready')
    await waitUntil('our connections are gone', async () => {
      const now = await Promise.all(setup.nodes.map((node) => withClient(node, connected)))
      expect(now).to.deep.equal(others)
      return true
    })
  })

  it('ioredis alone decides when to connect to a node again, as it may have a successor', async () => {
    const { connections } = internalsOf(await plain())
    const { redis } = (connections as unknown as { transport: { redis: Cluster } }).transport
    const nodes = redis.nodes('all')
    expect(nodes).to.not.be.empty
    for (const { options } of nodes) {
      expect(options).to.include({ retryStrategy: null, lazyConnect: true })
      expect(options.reconnectOnError!(new Error("READONLY You can't write"))).to.equal(false)
    }
  })
})
