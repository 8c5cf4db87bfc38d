import { expect } from 'chai'
import type { Redis } from 'ioredis'
import type { RLock } from '../../../src/engine/rlock'
import type { Redisson, TokenLock } from '../../../src/index'
import { createRedisson, rejection, timed, uniqueName } from '../../kit/clients'
import { freshName, name } from '../../kit/each-test'
import { eventsOf, ownerOf } from '../../kit/observing'
import { type Address, ownCluster, waitUntil, withClient } from '../../kit/servers/index'
import { setUpSilentReplicas } from './silent-replicas'

const SYNC = 400
// Three tries, and a busy machine.
const THREE_TRIES = { least: 3 * SYNC - 50, most: 3 * SYNC + 4_000 }

const REENTRANT: Record<string, (redisson: Redisson, name: string) => RLock> = {
  'a lock': (redisson, name) => redisson.getLock(name),
  'a read lock': (redisson, name) => redisson.getReadWriteLock(name).readLock(),
  'a write lock': (redisson, name) => redisson.getReadWriteLock(name).writeLock(),
}
const OTHERS: Record<string, (redisson: Redisson, name: string) => TokenLock> = {
  'a token lock': (redisson, name) => redisson.getTokenLock(name),
}

const keysOf = (name: string) => (client: Redis) => client.keys(`*${name}*`)

describe('Replicas that do not acknowledge', () => {
  freshName()
  const servers = setUpSilentReplicas(SYNC)
  const { pause, resume, connected } = servers
  const isFree = (name: string) =>
    waitUntil(`nothing is left of ${name}`, async () => (await keysOf(name)(servers.redis)).length === 0)

  for (const [kind, lockOf] of Object.entries({ ...REENTRANT, ...OTHERS }))
    it(`Missing replicas fail ${kind} after three tries, until they are back (D4)`, async () => {
      const redisson = await connected()
      const lock = lockOf(redisson, name)
      await lock.withLock(() => {})
      await pause()
      let error: Error & { code?: string } = new Error()
      const took = await timed(async () => {
        error = await rejection(lock.lock())
      })
      expect(error.code).to.equal('LOCK_NOT_REPLICATED')
      expect(error.message).to.contain(name)
      expect(took).to.be.within(THREE_TRIES.least, THREE_TRIES.most)
      await isFree(name)
      await resume()
      // Well within the lease of 30 s that would be waited for, had anything stayed behind.
      expect(await timed(() => lockOf(redisson, name).withLock(() => {}))).to.be.below(10_000)
    })

  for (const [kind, lockOf] of Object.entries(REENTRANT))
    it(`Unacknowledged re-entry of ${kind}: its count is released, the hold stands`, async () => {
      const redisson = await connected()
      const { redis } = servers
      const lock = lockOf(redisson, name)
      await redisson.run(async () => {
        await lock.lock(60_000)
        await pause()
        const error = await rejection(lock.lock(120_000))
        expect(error.code).to.equal('LOCK_NOT_REPLICATED')
        const owner = Object.entries(await redis.hgetall(name)).filter(([field]) => field !== 'mode')
        expect(owner.map(([, count]) => count)).to.deep.equal(['1'])
        expect(await redis.pttl(name)).to.be.at.most(60_000)
        expect(await lock.getHoldCount()).to.equal(1)
        await resume()
        await lock.lock()
        expect(await lock.getHoldCount()).to.equal(2)
        await lock.unlock()
        await lock.unlock()
      })
      await isFree(name)
    })

  it('A token that no replica has is not handed out, and the next one is greater (F3, J6)', async () => {
    const redisson = await connected()
    const errors = eventsOf(redisson, 'error')
    const { redis } = servers
    const lock = redisson.getFencedLock(name)
    expect(await lock.withLock(({ token }) => token)).to.equal(1)
    await pause()
    expect((await rejection(lock.lockAndGetToken())).code).to.equal('LOCK_NOT_REPLICATED')
    await waitUntil('it is released', async () => (await redis.exists(name)) === 0)
    expect(await lock.getToken(), 'three tries of one owner draw one token').to.equal(2)
    await resume()
    expect(await lock.lockAndGetToken()).to.equal(3)
    await lock.unlock()
    expect(errors).to.deep.equal([])
  })

  it('Clients that take turns with leases below the replica wait fail after three tries (V193)', async () => {
    const locks = [await connected(), await connected()].map((redisson) => redisson.getFairLock(name))
    for (const lock of locks) await lock.withLock(() => {})
    await pause()
    const errors = await Promise.all(locks.map((lock) => rejection(lock.lock({ leaseTime: 0.9 * SYNC }))))
    for (const error of errors) expect(error.code).to.equal('LOCK_NOT_REPLICATED')
    await isFree(name)
  })

  it('With missing replicas a try takes one wait, tryLock() little more than its own (A7)', async () => {
    const redisson = await connected()
    await redisson.getLock(uniqueName()).withLock(() => {})
    await pause()
    for (const waitTime of [0, SYNC / 2, 1.5 * SYNC]) {
      const name = uniqueName()
      let error: Error & { code?: string } = new Error()
      const took = await timed(async () => {
        error = await rejection(redisson.getLock(name).tryLock({ waitTime }))
      })
      expect(error.code, `tryLock(${waitTime})`).to.equal('LOCK_NOT_REPLICATED')
      expect(took).to.be.within(SYNC - 50, waitTime + SYNC + 900)
      await isFree(name)
    }
  })

  it('Replicas that do not acknowledge fail a re-entry that does not wait after one try', async () => {
    const redisson = await connected()
    const lock = redisson.getLock(uniqueName())
    await redisson.run(async () => {
      await lock.lock()
      await pause()
      expect((await rejection(lock.tryLock())).code).to.equal('LOCK_NOT_REPLICATED')
      expect(await lock.getHoldCount()).to.equal(1)
      await lock.unlock()
    })
  })

  it('A lock held by another client answers "held" although no replica acknowledges', async () => {
    const holder = await connected()
    const other = await connected()
    const hold = await holder.getLock(name).acquire()
    await pause()
    expect(await other.getLock(name).tryLock()).to.equal(false)
    await hold.unlock()
  })

  it('Replicas that do not acknowledge do not matter with checkLockSyncedSlaves: false', async () => {
    const redisson = await connected({ checkLockSyncedSlaves: false })
    const { redis } = servers
    const lock = redisson.getLock(uniqueName())
    await pause()
    await redisson.run(async () => {
      await lock.lock()
      await lock.lock()
      expect((await ownerOf(redis, lock.getName())).count).to.equal(2)
      await lock.unlock()
      await lock.unlock()
    })
    await isFree(lock.getName())
  })

  it('Replicas that do not acknowledge lose no lock that is renewed meanwhile', async () => {
    // The least that is renewed behind replicas that may not answer.
    const lockWatchdogTimeout = 9 * SYNC + 300
    const redisson = await connected({ lockWatchdogTimeout })
    const lost: unknown[] = eventsOf(redisson, 'lockLost')
    redisson.on('renewalFailed', (event) => lost.push(event))
    const hold = await redisson.getLock(uniqueName()).acquire()
    await pause()
    await new Promise((resolve) => setTimeout(resolve, 3 * lockWatchdogTimeout))
    expect(hold.isHeld).to.equal(true)
    expect(lost).to.deep.equal([])
    await hold.unlock()
  })
})

describe('A cluster replica that does not acknowledge', () => {
  const cluster = ownCluster({ replicas: 1 })

  it('A missing replica of a node fails an acquisition, granted once it is back (D4)', async () => {
    const redisson = await createRedisson({
      redis: { nodes: cluster.nodes.map(({ host, port }: Address) => ({ host, port })) },
      slavesSyncTimeout: SYNC,
    })
    const name = `${uniqueName()}{bar}` // slot 5061, of the first shard
    const lock = redisson.getLock(name)
    await lock.withLock(() => {})
    const [primary] = cluster.nodes
    const replica = cluster.nodes[3]!
    await replica.pause()
    try {
      expect((await rejection(lock.lock())).code).to.equal('LOCK_NOT_REPLICATED')
      await waitUntil('nothing is left of it', () =>
        withClient(primary!, async (client) => (await keysOf(name)(client)).length === 0),
      )
    } finally {
      await replica.resume()
    }
    await waitUntil('the replica is there again', () =>
      withClient(primary!, async (client) => {
        await client.set('{bar}', 1)
        return (await client.wait(1, 1_000)) === 1
      }),
    )
    await lock.withLock(() => {})
  })
})
