import { expect } from 'chai'
import { Redisson } from '../../src/redisson'
import { createRedisson, openRedis, uniqueName } from '../kit/clients'
import { connected, runsToItsEnd } from '../kit/proves-locking'
import { freshServer, sharedCluster, sharedSentinel, waitUntil, withClient } from '../kit/servers/index'

// How many connections a client takes is part of what it costs; these numbers are the documentation.
describe('Connections of a client', () => {
  it('Connections to a standalone server are two, and shutdown() closes them and no other', async () => {
    const server = await freshServer()
    const admin = await openRedis(server.url)
    const caller = await openRedis(server.url)
    await caller.ping()
    const before = await connected(admin)
    const redisson = await Redisson.create({ redis: server.url })
    expect(await connected(admin)).to.have.length(before.length + 2)
    await useWithWaiters(redisson)
    expect(await connected(admin)).to.have.length(before.length + 2)
    await redisson.shutdown()
    await waitUntil('our connections are gone', async () => {
      expect(await connected(admin)).to.deep.equal(before)
      return true
    })
    admin.disconnect()
    caller.disconnect()
  })

  it('Connections behind sentinels are three with WAIT, beside those that ask sentinels', async () => {
    const setup = await sharedSentinel()
    const { sentinels, name } = setup
    const all = [...setup.nodes, ...sentinels]
    const count = () => Promise.all(all.map((node) => withClient(node, connected)))
    const address = await setup.primary()
    const before = await withClient(address, connected)
    const beforeAll = await count()
    const addresses = sentinels.map(({ host, port }) => ({ host, port }))
    const redisson = await createRedisson({ redis: { sentinels: addresses, name } })
    await useWithWaiters(redisson)
    expect(await withClient(address, connected)).to.have.length(before.length + 3)
    await redisson.shutdown()
    await waitUntil('our connections are gone', async () => {
      expect(await count()).to.deep.equal(beforeAll)
      return true
    })
  })

  it('Connections to a cluster are at most three a node, with that for WAIT', async () => {
    const { nodes } = await sharedCluster()
    const count = () => Promise.all(nodes.map((node) => withClient(node, connected)))
    const before = await count()
    const redisson = await createRedisson({
      redis: { nodes: nodes.map(({ host, port }) => ({ host, port })) },
    })
    for (let times = 0; times < 12; times++) await useWithWaiters(redisson)
    await waitUntil('the one that asked for the slots is gone', async () => {
      const now = await count()
      return now.every((ids, index) => ids.length <= before[index]!.length + 3)
    })
    await redisson.shutdown()
    await waitUntil('our connections are gone', async () => {
      expect(await count()).to.deep.equal(before)
      return true
    })
  })

  it('Connections do not keep a process alive after shutdown(), whatever it did', async () => {
    const cluster = await sharedCluster()
    const { sentinels, name } = await sharedSentinel()
    const server = await freshServer()
    const sources = [
      server.url,
      { nodes: cluster.nodes.map(({ host, port }) => ({ host, port })) },
      { sentinels: sentinels.map(({ host, port }) => ({ host, port })), name },
    ]
    await runsToItsEnd(`
      const loaded = await import('./src/index.ts')
      const { Redisson } = loaded.default ?? loaded
      for (const redis of ${JSON.stringify(sources)}) {
        const redisson = await Redisson.create({ redis })
        const lock = redisson.getLock('${uniqueName()}')
        await lock.lock()
        if (await lock.tryLock(50)) throw new Error('held twice')
        await redisson.shutdown({ timeout: 0 })
      }
    `)
  })
})

/** Holds a lock, waits for it in vain, releases it. */
async function useWithWaiters(redisson: Redisson): Promise<void> {
  const lock = redisson.getLock(uniqueName())
  const held = await lock.acquire()
  expect(await lock.tryLock(20)).to.equal(false)
  await held.unlock()
}
