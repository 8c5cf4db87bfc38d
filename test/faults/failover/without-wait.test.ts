import { expect } from 'chai'
import type { Redisson, RedissonOptions } from '../../../src/index'
import { closeAll, createRedisson, uniqueName } from '../../kit/clients'
import { through } from '../../kit/replication'
import { freshCluster, freshSentinel, type RedisNode, withClient } from '../../kit/servers/index'

/** Locks of each kind and a re-entry, all as usual; resolves with the `error` events. */
async function locksAsUsual(redis: RedissonOptions['redis']): Promise<string[]> {
  const redisson = await createRedisson({ redis })
  const reported: string[] = []
  redisson.on('error', (error) => reported.push(error.message))
  for (let times = 0; times < 12; times++) await locksEveryKind(redisson)
  return reported
}

async function locksEveryKind(redisson: Redisson) {
  const name = uniqueName()
  const other = redisson.getReadWriteLock(uniqueName())
  await redisson.run(async () => {
    for (const lock of [redisson.getLock(name), other.readLock(), other.writeLock()]) {
      await lock.lock()
      await lock.lock()
      expect(await lock.getHoldCount()).to.equal(2)
      await lock.unlock()
      await lock.unlock()
      expect(await lock.isLocked()).to.equal(false)
    }
  })
}

/** How often the servers ran WAIT. */
async function waitsOf(nodes: readonly RedisNode[]): Promise<number> {
  const stats = await Promise.all(
    nodes.map((node) => withClient(node, (client) => client.info('commandstats'))),
  )
  return stats.reduce((sum, text) => sum + Number(/cmdstat_wait:calls=(\d+)/.exec(text)?.[1] ?? 0), 0)
}

describe('skipLockSyncedSlaves: true', () => {
  it('Behind Sentinel and in a cluster no WAIT is sent, and locks work as usual', async () => {
    const setup = await freshSentinel()
    const cluster = await freshCluster({ replicas: 1 })
    const { nodes } = cluster
    const inCluster = { nodes: nodes.map(({ host, port }) => ({ host, port })) }
    for (const [redis, servers] of [
      [through(setup), setup.nodes],
      [inCluster, nodes],
    ] as const) {
      const before = await waitsOf(servers)
      await locksEveryKind(await createRedisson({ redis: redis as string }))
      expect(await waitsOf(servers), 'with WAIT').to.be.above(before)
      await closeAll()
      const withWait = await waitsOf(servers)
      const redisson = await createRedisson({ redis: redis as string, skipLockSyncedSlaves: true })
      const waiting = await createRedisson({ redis: redis as string, skipLockSyncedSlaves: true })
      for (let times = 0; times < 6; times++) await locksEveryKind(redisson)
      const name = uniqueName()
      const hold = await redisson.getLock(name).acquire()
      const next = waiting.getLock(name).tryAcquire({ waitTime: 20_000 })
      await hold.unlock()
      await (await next)!.unlock()
      expect(await waitsOf(servers), 'without WAIT').to.equal(withWait)
    }
  })
})

describe('servers without WAIT', () => {
  it('Behind Sentinel a server without WAIT is reported once, and every lock works (D5)', async () => {
    const setup = await freshSentinel({ config: ['rename-command WAIT ""'] })
    const reported = await locksAsUsual(through(setup))
    expect(reported).to.have.length(1)
    expect(reported[0]).to.contain('WAIT')
  })

  it('Behind Sentinel a user without the right to WAIT and INFO can use every lock (D5)', async () => {
    const setup = await freshSentinel()
    for (const node of setup.nodes)
      await withClient(node, (client) =>
        client.call('ACL', 'SETUSER', 'limited', 'on', '>pw', '~*', '&*', '+@all', '-wait', '-info'),
      )
    const { sentinels, name } = through(setup) as { sentinels: []; name: string }
    const reported = await locksAsUsual({ sentinels, name, username: 'limited', password: 'pw' })
    expect(reported.filter((message) => message.includes('WAIT'))).to.have.length(1)
  })

  it('A server without WAIT in a cluster is reported once, and every lock works (D5)', async () => {
    const cluster = await freshCluster({ replicas: 1, config: ['rename-command WAIT ""'] })
    const reported = await locksAsUsual({
      nodes: cluster.nodes.map(({ host, port }) => ({ host, port })),
    })
    expect(reported).to.have.length(1)
    expect(reported[0]).to.contain('WAIT')
  })
})
