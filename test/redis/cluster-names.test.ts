import { expect } from 'chai'
import calculateSlot from 'cluster-key-slot'
import { createRedisson, uniqueName } from '../kit/clients'
import { eventsOf } from '../kit/observing'
import { type ClusterSetup, sharedCluster, waitUntil, withClient } from '../kit/servers/index'

describe('names in a cluster', () => {
  let setup: ClusterSetup

  before(async () => {
    setup = await sharedCluster()
  })

  const source = () => ({ nodes: setup.nodes.map(({ host, port }) => ({ host, port })) })

  it('A cluster refuses a name whose key and channel would be in two slots (L7)', async () => {
    const redisson = await createRedisson({ redis: source() })
    for (const name of ['a}b', 'a{b', '{}x', '{', '}', 'x{}'])
      expect(() => redisson.getLock(name), name).to.throw(TypeError, /different slots/)
  })

  it('In a cluster a name is judged after the name mapper', async () => {
    const nameMapper = { map: (name: string) => (name === 'bad' ? 'a}b' : name.replaceAll('}', '')) }
    const redisson = await createRedisson({ redis: source(), nameMapper })
    expect(() => redisson.getLock('bad')).to.throw(TypeError, /different slots/)
    await redisson.getLock('a}b').withLock(() => {})
  })

  it('Outside a cluster names with unbalanced braces work', async () => {
    const redisson = await createRedisson()
    for (const name of ['a}b', 'a{b', '{}x', '{', '}'])
      await redisson.getLock(uniqueName(name)).withLock(() => {})
  })

  it('In a cluster names with balanced braces, spaces or umlauts are locked and waited for', async () => {
    const first = await createRedisson({ redis: source() })
    const second = await createRedisson({ redis: source() })
    const names = ['{a}', 'x{a}y', '{a}{b}', 'x{a}y{}', ' {ü ö} ', 'plain', 'ß'].map((name) =>
      uniqueName(name),
    )
    const holds = await Promise.all(names.map((name) => first.getLock(name).acquire()))
    const waiting = names.map((name) => second.getLock(name).acquire())
    await Promise.all(holds.map((hold) => hold.unlock()))
    await Promise.all((await Promise.all(waiting)).map((hold) => hold.unlock()))
  })

  it('Locks of many cluster slots are renewed in batches, each batch within one slot (B7)', async () => {
    const lockWatchdogTimeout = 3_000
    const redisson = await createRedisson({ redis: source(), lockWatchdogTimeout, lockWatchdogBatchSize: 5 })
    const troubles: unknown[] = eventsOf(redisson, 'lockLost')
    redisson.on('renewalFailed', (event) => troubles.push(event))
    redisson.on('error', (event) => troubles.push(event))
    const spread = Array.from({ length: 100 }, () => uniqueName())
    // More of one slot than a batch takes.
    const together = Array.from({ length: 12 }, () => uniqueName('{one slot}'))
    const names = [...spread, ...together]
    expect(new Set(names.map((name) => calculateSlot(name))).size).to.be.above(50)
    const holds = await Promise.all(names.map((name) => redisson.getLock(name).acquire()))
    // Moments, and no times to live: one that was read right after a renewal may never be exceeded.
    const ends = () =>
      Promise.all(
        setup.nodes.map((node) =>
          withClient(node, async (client) => {
            const mine = names.filter((_, index) => owners[index] === node)
            return await Promise.all(mine.map(async (name) => (await client.pttl(name)) + performance.now()))
          }),
        ),
      ).then((lists) => lists.flat())
    const owners = await Promise.all(names.map((name) => setup.ownerOf(calculateSlot(name))))
    const before = await ends()
    await waitUntil('every one was renewed', async () => {
      const now = await ends()
      return now.every((time, index) => time > before[index]! + 500)
    })
    expect(holds.every((hold) => hold.isHeld)).to.equal(true)
    await Promise.all(holds.map((hold) => hold.unlock()))
    expect(troubles).to.deep.equal([])
  })
})
