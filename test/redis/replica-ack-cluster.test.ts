import { expect } from 'chai'
import calculateSlot from 'cluster-key-slot'
import type { Redisson, RedissonOptions, RLock } from '../../src/index'
import type { ScriptTransport } from '../../src/scripts/transport'
import { createRedisson, uniqueName } from '../kit/clients'
import { ownCluster } from '../kit/servers/index'

describe('A cluster without replicas', () => {
  const setup = ownCluster({ replicas: 0 })

  /** A client, and how many commands it has sent in this way: `sendAcknowledged` waits for replicas. */
  async function counted(way: 'send' | 'sendAcknowledged', options: Partial<RedissonOptions> = {}) {
    let count = 0
    const counting = (transport: ScriptTransport): ScriptTransport => {
      const send = transport[way] as (...call: unknown[]) => unknown
      const counted = (...call: unknown[]) => {
        count++
        return send.apply(transport, call)
      }
      return Object.assign(transport, { [way]: counted })
    }
    const redis = { nodes: setup.nodes.map(({ host, port }) => ({ host, port })) }
    const redisson = await createRedisson({ redis, ...options }, { transport: counting })
    return { redisson, sent: () => count }
  }

  /** Runs the work with names that the node of their slot does not have: it answers ASK. */
  async function asked(redisson: Redisson, work: (lock: RLock) => Promise<void>) {
    const name = uniqueName('{asks}')
    const slot = calculateSlot(name)
    const target = (setup.nodes.indexOf(await setup.ownerOf(slot)) + 1) % 3
    const outer = await redisson.getLock(name).acquire()
    await setup.migrateSlot(slot, target, async () => {
      for (let round = 0; round < 20; round++) await work(redisson.getLock(`${name} ${round}`))
    })
    await outer.unlock()
  }

  it('Acquisitions use the WAIT connection once a second, and the faster one else', async () => {
    const { redisson, sent } = await counted('sendAcknowledged')
    const lock = redisson.getLock(uniqueName())
    const started = performance.now()
    for (let cycle = 0; cycle < 300; cycle++) await lock.withLock(() => {})
    const seconds = (performance.now() - started) / 1_000
    expect(sent()).to.be.within(1, Math.ceil(seconds) + 1)
  })

  it("An acquisition that another node answers waits for that node's replicas (V42)", async () => {
    const { redisson, sent } = await counted('sendAcknowledged')
    await asked(redisson, async (lock) => {
      const before = sent()
      expect(await lock.tryLock()).to.equal(true)
      expect(sent()).to.be.greaterThan(before)
      await lock.unlock()
      expect(await lock.isLocked()).to.equal(false)
    })
  })

  it('With skipLockSyncedSlaves an acquisition that another node answers is sent once', async () => {
    const { redisson, sent } = await counted('send', { skipLockSyncedSlaves: true })
    let acquisitions = 0
    await asked(redisson, async (lock) => {
      const before = sent()
      expect(await lock.tryLock()).to.equal(true)
      acquisitions += sent() - before
      await lock.unlock()
    })
    // Once for each of 20 names, and once with the source of the script.
    expect(acquisitions).to.be.within(20, 21)
  })
})
