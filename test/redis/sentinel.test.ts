import { expect } from 'chai'
import { lockChannel } from '../../src/locks/hash-lock-kind'
import { Redisson } from '../../src/redisson'
import { createRedisson, openRedis, timed, uniqueName } from '../kit/clients'
import { eventsOf } from '../kit/observing'
import { provesLocking, SOON, subscribersOn, through } from '../kit/proves-locking'
import { isRenewed } from '../kit/replication'
import {
  ownSentinel,
  type SentinelSetup,
  sameAddress,
  sharedSentinel,
  waitUntil,
  withClient,
} from '../kit/servers/index'

// Detection (1 s), election and reconnecting, several times over on a busy machine.
const FAILED_OVER = 20_000

const sourceOf = ({ sentinels, name }: SentinelSetup) => ({
  sentinels: sentinels.map(({ host, port }) => ({ host, port })),
  name,
})

describe('behind sentinels', () => {
  let setup: SentinelSetup

  before(async () => {
    setup = await sharedSentinel()
  })

  it('Locks behind sentinels stand on the primary, and a waiter is woken by its message', async () => {
    const { host, port } = await setup.primary()
    await provesLocking(
      await createRedisson({ redis: sourceOf(setup) }),
      await createRedisson({ redis: sourceOf(setup) }),
      through(await openRedis(`redis://${host}:${port}`)),
    )
  })

  it('The database behind sentinels is that of the options', async () => {
    const { host, port } = await setup.primary()
    await provesLocking(
      await createRedisson({ redis: { ...sourceOf(setup), db: 4 } }),
      await createRedisson({ redis: { ...sourceOf(setup), db: 4 } }),
      through(await openRedis(`redis://${host}:${port}/4`)),
    )
  })

  it('A hold, its renewal and its waiter go through an ordered failover', async () => {
    const holder = await createRedisson({ redis: sourceOf(setup), lockWatchdogTimeout: 6_000 })
    const other = await createRedisson({ redis: sourceOf(setup) })
    const lost = eventsOf(holder, 'lockLost')
    const name = uniqueName()
    const old = await setup.primary()
    const held = await holder.getLock(name).acquire()
    const waiting = other.getLock(name).acquire()
    await waitUntil(
      'the waiter is subscribed',
      async () => (await subscribersOn([old], lockChannel(name), 'NUMSUB')) === 1,
    )
    // Both replicas have the lock, so that whichever is promoted knows it.
    await withClient(old, (client) => client.wait(2, 1_000))
    await setup.failover()
    const now = await setup.primary()
    await waitUntil(
      'the waiter is subscribed at the new primary',
      async () => (await subscribersOn([now], lockChannel(name), 'NUMSUB')) === 1,
      FAILED_OVER,
    )
    const field = `${holder.getId()}:${held.threadId}`
    expect(await withClient(now, (client) => client.hget(name, field))).to.equal('1')
    await isRenewed(now, name)
    const took = await timed(async () => {
      await held.unlock()
      await (await waiting).unlock()
    })
    expect(took).to.be.below(SOON)
    expect(lost).to.deep.equal([])
  })
})

// A setup of its own, that the shared one need not recover.
describe('behind sentinels of which some die', () => {
  const setup = ownSentinel()

  it('Calls without a primary are tried again until one is there, and waiters are woken', async () => {
    const holder = await createRedisson({ redis: sourceOf(setup) }, { unavailableAfter: FAILED_OVER })
    const other = await createRedisson({ redis: sourceOf(setup) }, { unavailableAfter: FAILED_OVER })
    const name = uniqueName()
    const held = await holder.getLock(name).acquire()
    const waiting = other.getLock(name).acquire()
    const old = await setup.primary()
    await waitUntil(
      'the waiter is subscribed',
      async () => (await subscribersOn([old], lockChannel(name), 'NUMSUB')) === 1,
    )
    await withClient(old, (client) => client.wait(2, 1_000))
    await setup.killPrimary()
    const took = await timed(async () => {
      const fresh = holder.getLock(uniqueName()).tryLock(FAILED_OVER)
      await setup.waitForNewPrimary(old)
      expect(await fresh).to.equal(true)
      await held.unlock()
      await (await waiting).unlock()
    })
    // Well before the lease of 30 s has run out.
    expect(took).to.be.below(FAILED_OVER)
  })

  it('A former primary that comes back as a replica is not written to', async () => {
    const redisson = await createRedisson({ redis: sourceOf(setup) })
    const primary = await setup.primary()
    for (const node of setup.nodes) if (!sameAddress(node, primary)) await node.restart()
    await redisson.getLock(uniqueName()).withLock(async () => {
      expect(sameAddress(await setup.primary(), primary)).to.equal(true)
    })
  })

  it('create() works while one sentinel is down', async () => {
    const [first] = setup.sentinels
    await first!.kill()
    try {
      const redisson = await createRedisson({ redis: sourceOf(setup) })
      await redisson.getLock(uniqueName()).withLock(() => {})
    } finally {
      await first!.restart()
    }
  })

  // Last, for a sentinel that was paused distrusts its clock for half a minute.
  it('create() works while one sentinel accepts and never answers', async () => {
    const [first] = setup.sentinels
    await first!.pause()
    try {
      const redisson = await Redisson.create({ redis: sourceOf(setup) })
      await redisson.getLock(uniqueName()).withLock(() => {})
      await redisson.shutdown()
    } finally {
      await first!.resume()
    }
  })
})
