import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import * as redis6 from 'redis'
import * as redis5 from 'redis5'
import type { RedissonOptions } from '../../src/index'
import { resolveTarget } from '../../src/redis/target/target'
import { Redisson } from '../../src/redisson'
import { closeAll, createRedisson, openRedis, rejection, uniqueName } from '../kit/clients'
import { connected, provesLocking, through } from '../kit/proves-locking'
import {
  type Address,
  ownServer,
  sharedCluster,
  sharedSentinel,
  waitUntil,
  withClient,
} from '../kit/servers/index'
import { TlsProxy } from '../kit/tls-proxy'

const USER = 'user app on >p@ss/w:rd ~* &* +@all'
const login = { username: 'app', password: 'p@ss/w:rd' }

/** A lock, and a waiter that is notified. */
async function locks(redis: RedissonOptions['redis'], options: Partial<RedissonOptions> = {}): Promise<void> {
  const [holder, other] = [
    await createRedisson({ redis, ...options }),
    await createRedisson({ redis, ...options }),
  ]
  const name = uniqueName()
  const hold = await holder.getLock(name).acquire()
  const waiting = other.getLock(name).acquire()
  await waitUntil('it waits', () => other.stats().waiting === 1 && other.stats().channels === 1)
  await hold.unlock()
  await (await waiting).unlock()
}

for (const [version, library] of [
  [5, redis5],
  // Its types differ in what this test does not use.
  [6, redis6 as unknown as typeof redis5],
] as const)
  describe(`A client of node-redis ${version}`, () => {
    const server = ownServer({ config: [USER] })
    const opened: { isOpen: boolean; destroy(): void }[] = []

    afterEach(async () => {
      await closeAll()
      for (const client of opened.splice(0)) if (client.isOpen) client.destroy()
    })

    const socketOf = ({ host, port }: Address) => ({ host, port })
    const url = () => `redis://app:${encodeURIComponent(login.password)}@${server.host}:${server.port}/3`

    function own<
      C extends { isOpen: boolean; destroy(): void; on(event: 'error', heard: () => void): unknown },
    >(client: C): C {
      client.on('error', () => {})
      opened.push(client)
      return client
    }

    it(`node-redis ${version} gives address, login and database, and is left as it was`, async () => {
      await withClient(server, (admin) => admin.call('ACL', 'SETUSER', 'default', 'off'))
      try {
        for (const options of [{ socket: socketOf(server), ...login, database: 3 }, { url: url() }]) {
          const client = own(library.createClient(options))
          await client.connect()
          const there = await openRedis(url())
          const others = await connected(there)
          await provesLocking(
            await createRedisson({ redis: client }),
            await createRedisson({ redis: url() }),
            through(there),
          )
          await closeAll()
          expect(client.isReady).to.equal(true)
          const look = await openRedis(url())
          await waitUntil('our connections are gone', async () =>
            (await connected(look)).every((id) => others.includes(id)),
          )
        }
      } finally {
        const app = await openRedis(url())
        await app.call('ACL', 'SETUSER', 'default', 'on')
      }
    })

    it(`A client of node-redis ${version} that was never connected stays so`, async () => {
      const client = library.createClient({ url: url() })
      await locks(client)
      expect(client.isOpen).to.equal(false)
    })

    it(`A client of node-redis ${version} with TLS keeps it, and its certificates`, async () => {
      const proxy = await TlsProxy.open(server)
      const [host, port, ca] = ['127.0.0.1', proxy.port, readFileSync(proxy.certificate)]
      const socket = { host, port, tls: true as const, ca, servername: 'localhost' }
      await locks(own(library.createClient({ socket, ...login })))
      const byUrl = own(
        library.createClient({
          url: `rediss://${host}:${port}`,
          socket: { tls: true, ca, servername: 'localhost' },
          ...login,
        }),
      )
      await locks(byUrl)
      const distrusted = library.createClient({ socket: { host, port, tls: true }, ...login })
      expect((await rejection(Redisson.create({ redis: distrusted }))).message).to.contain('certificate')
    })

    it(`A client of node-redis ${version} with a credentials provider is asked by it`, async () => {
      let asked = 0
      const credentials = async () => {
        asked++
        return login
      }
      const async = library.createClient({
        socket: socketOf(server),
        credentialsProvider: { type: 'async-credentials-provider', credentials },
      })
      await locks(async)
      expect(asked).to.be.greaterThan(0)
      let disposed = 0
      const streaming = library.createClient({
        socket: socketOf(server),
        credentialsProvider: {
          type: 'streaming-credentials-provider',
          subscribe: async () => [login, { dispose: () => disposed++ }],
          onReAuthenticationError() {},
        },
      })
      await locks(streaming)
      expect(disposed).to.be.greaterThan(0)
    })

    it(`A cluster of node-redis ${version} gives its nodes, connected or not`, async () => {
      const setup = await sharedCluster()
      const [first, second] = setup.nodes
      const cluster = own(
        library.createCluster({ rootNodes: [{ url: first!.url }, { socket: socketOf(second!) }] }),
      )
      await locks(cluster)
      await cluster.connect()
      await locks(cluster)
      expect(cluster.isOpen).to.equal(true)
    })

    it(`A cluster of node-redis ${version} gives the login, TLS and addresses of all its nodes`, () => {
      const cluster = library.createCluster({
        rootNodes: [{ socket: { host: 'h', port: 1 } }],
        defaults: { ...login, socket: { tls: true, ca: 'C' } },
        nodeAddressMap: { '10.0.0.1:1': { host: 'h', port: 1 } },
      })
      const target = resolveTarget(cluster)
      expect(target).to.deep.include({ kind: 'cluster', options: { ...login, tls: { ca: 'C' } } })
      expect(target).to.have.nested.property('clusterOptions.natMap.10\\.0\\.0\\.1:1.port', 1)
      expect(target.secrets).to.contain(login.password)
      const inTwo = library.createCluster({ rootNodes: [{ socket: { port: 1 } }], defaults: { database: 2 } })
      expect(resolveTarget(inTwo).options).to.include({ db: 2 })
    })

    it(`A sentinel client of node-redis ${version} ${version === 5 ? 'keeps its options to itself, and is refused with advice' : 'gives sentinels, name and logins'}`, async () => {
      const { sentinels, name } = await sharedSentinel()
      const sentinel = library.createSentinel({
        name,
        sentinelRootNodes: sentinels.map(socketOf),
        nodeClientOptions: { password: 'not needed' },
        sentinelClientOptions: { password: 'neither' },
      })
      if (version === 5) {
        const error = await rejection(Redisson.create({ redis: sentinel }))
        expect(error).to.be.instanceOf(TypeError)
        expect(error.message).to.contain('createSentinel() of version 5').and.contain('sentinels, name')
        return
      }
      expect(resolveTarget(sentinel).options).to.include({
        name,
        password: 'not needed',
        sentinelPassword: 'neither',
      })
      await locks(sentinel)
    })

    it(`A pool of node-redis ${version} is refused with advice`, async () => {
      const pool = library.createClientPool({ url: url() })
      const error = await rejection(Redisson.create({ redis: pool }))
      expect(error).to.be.instanceOf(TypeError)
      expect(error.message).to.contain('createClientPool()')
    })
  })
