import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { expect } from 'chai'
import { createRedisson, openRedis, rejection } from '../../../test/kit/clients'
import { startClusterProxy } from '../../../test/kit/cluster-proxy'
import {
  type Address,
  freshSentinel,
  freshServer,
  ownServer,
  type Standalone,
  serverHas,
  sharedCluster,
  startStandalones,
  waitUntil,
  withClient,
} from '../../../test/kit/servers/index'
import { rlock } from './cli'

const HEALTHY = ['appendonly yes']
const idsOf = (found: { readonly json: { readonly id: string }[] }) => found.json.map(({ id }) => id)

describe('rlock doctor and servers that are not as they should be', function () {
  this.timeout(60_000)
  const server = ownServer({ config: HEALTHY })

  const doctor = (url: string) => rlock(['doctor', '--redis', url, '--json'])
  const behind = async (alter: (answer: string) => string) => {
    const proxy = await startAlteringProxy(server, alter)
    try {
      return await doctor(proxy.url)
    } finally {
      proxy.stop()
    }
  }

  it('rlock doctor finds server-version where Redis is older than 6.2', async () => {
    const old = (answer: string) =>
      answer.replace(/redis_version:\d\.\d/, 'redis_version:6.0').replace('valkey_version', 'foreign_nr_ref')
    const found = await behind(old)
    expect(idsOf(found)).to.deep.equal(['server-version'])
    expect(found.json[0].level).to.equal('error')
    expect(found.json[0].page).to.match(/\/docs\/operations\/compatibility\.md$/)
  })

  it('rlock doctor finds no-scripts where EVAL has another name, and not that rights are missing', async () => {
    const renamed = ['rename-command EVAL other', 'rename-command EVALSHA another']
    const without = await freshServer({ config: [...HEALTHY, ...renamed] })
    const found = await doctor(without.url)
    expect(idsOf(found), found.err).to.deep.equal(['no-scripts'])
    const lock = (await createRedisson({ redis: without.url })).getLock('order:42')
    const { message } = await rejection(lock.tryLock())
    expect(message).to.contain('The server runs no Lua scripts').and.not.contain('rights')
  })

  it('rlock doctor finds clock-skew where the clock of the server is an hour ahead', async () => {
    const found = await behind((answer) =>
      answer.replace(/\*2\r\n\$10\r\n(\d{10})/g, (_, time) => `*2\r\n$10\r\n${Number(time) + 3_600}`),
    )
    expect(idsOf(found)).to.deep.equal(['clock-skew'])
    expect(Number(/by (-?\d+) ms/.exec(found.json[0].message)![1])).to.be.within(3_590_000, 3_610_000)
  })

  it('rlock doctor finds no orphaned-timeout where a reader has left since the search for keys', async () => {
    const redis = await openRedis(server.url)
    const key = '{p:rz}:0b6d2a3e-1111-4222-8333-944444444444:42:rwlock_timeout:1'
    await redis.set(key, 1, 'EX', 60)
    const found = await behind((answer) => answer.replaceAll('{p:rz}', '{p:rw}'))
    await redis.del(key)
    expect(idsOf(found)).to.deep.equal([])
  })

  it('rlock doctor finds proxy before a cluster that looks like a single server', async () => {
    const proxy = await startClusterProxy(await sharedCluster())
    try {
      const found = await doctor(`redis://127.0.0.1:${proxy.port}`)
      expect(idsOf(found), found.err).to.include('proxy')
    } finally {
      proxy.stop()
    }
  })

  it('rlock doctor finds replicas, too-few-replicas, and nothing with a replica that keeps up', async () => {
    const [primary, replica] = (await startStandalones({ config: HEALTHY }, { config: HEALTHY })) as [
      Standalone,
      Standalone,
    ]
    try {
      const redis = await openRedis(primary.url)
      await redis.config('SET', 'min-replicas-to-write', '1')
      const found = await doctor(primary.url)
      expect(idsOf(found), found.err).to.deep.equal(['too-few-replicas'])
      expect(found.json[0].level).to.equal('error')
      await withClient(replica, (node) => node.call('REPLICAOF', primary.host, String(primary.port)))
      await waitUntil('the replica keeps up', async () =>
        (await redis.info('replication')).includes('min_slaves_good_slaves:1'),
      )
      expect(idsOf(await doctor(primary.url))).to.deep.equal([])
      await redis.config('SET', 'min-replicas-to-write', '0')
      expect(idsOf(await doctor(primary.url))).to.deep.equal(['replicas'])
    } finally {
      await primary.stop()
    }
  })

  it('rlock doctor finds no-replicas where Sentinel watches a primary without any', async () => {
    const setup = await freshSentinel({ config: HEALTHY, downAfter: 60_000 })
    const [primary, ...replicas] = setup.nodes
    for (const each of replicas) await withClient(each, (node) => node.call('REPLICAOF', 'NO', 'ONE'))
    await withClient(primary!, (redis) =>
      waitUntil('it has no replica', async () =>
        (await redis.info('replication')).includes('connected_slaves:0'),
      ),
    )
    const urls = setup.sentinels.flatMap(({ host, port }) => ['--redis', `${host}:${port}`])
    const found = await rlock(['doctor', ...urls, '--sentinel', setup.name, '--json'])
    expect(idsOf(found), found.err).to.include('no-replicas')
  })

  it('rlock doctor finds nothing on a healthy cluster with locks of every kind in use', async () => {
    const { nodes } = await sharedCluster()
    const urls = nodes.map(({ host, port }) => `redis://${host}:${port}`)
    const client = await createRedisson({ redis: { nodes: urls } })
    const holds = [
      await client.getLock('h:1').acquire(),
      await client.getFairLock('h:2').acquire(),
      await client.getFencedLock('h:3').acquire(),
      await client.getReadWriteLock('h:4').readLock().acquire(),
      await client.getReadWriteLock('h:5').writeLock().acquire(),
      await client.getTokenLock('h:6').acquire(),
    ]
    const found = await rlock(['doctor', '--redis', urls[0]!, '--cluster', '--json'])
    const about = found.json.filter(({ message }) => message.includes('h:'))
    expect(about, found.err).to.deep.equal([])
    if (await serverHas('sharded pub/sub')) expect(idsOf(found)).to.not.include('sharded-pubsub')
    for (const hold of holds) await hold.unlock()
  })
})

/** A proxy before a real server that alters what the server answers. The altered text must have the same length. */
async function startAlteringProxy({ host, port }: Address, alter: (answer: string) => string) {
  const sockets = new Set<Socket>()
  const proxy = createServer((client) => {
    const server = connect(port, host)
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(one)
      one.on('error', () => {})
      one.on('close', () => other.destroy())
    }
    client.on('data', (chunk) => server.write(chunk))
    server.on('data', (chunk) => client.write(alter(chunk.toString('latin1')), 'latin1'))
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  return {
    url: `redis://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    stop() {
      proxy.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
