import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import calculateSlot from 'cluster-key-slot'
import { createRedisson, uniqueName } from '../kit/clients'
import { clientAndRedis, name, redis, redisson } from '../kit/each-test'
import { sharedCluster, waitUntil } from '../kit/servers/index'
import { inCluster } from './in-cluster'

/** Redisson's own tests of RLock with many threads, clients or nodes; see redisson-lock.test.ts. */
describe("Redisson's tests of many on a lock", () => {
  clientAndRedis()

  it('RedissonLockTest.testSubscriptionsPerConnection: no subscription is left behind', async () => {
    const prefix = uniqueName('lock')
    let left = 1_000
    const caller = async () => {
      while (left-- > 0) {
        const lock = redisson.getLock(`${prefix}-${Math.floor(Math.random() * 5)}`)
        await redisson.run(async () => {
          await lock.lock()
          await sleep(Math.random() * 4)
          await lock.unlock()
        })
      }
    }
    await Promise.all(Array.from({ length: 32 }, caller))
    const channels = () => redis.pubsub('CHANNELS', `*${prefix}*`)
    await waitUntil('nothing is subscribed', async () => (await channels()).length === 0, 3_000)
  })

  it('RedissonLockTest.testSinglePubSub: many locks share one subscriber connection', async () => {
    const prefix = uniqueName('Lock')
    for (let i = 0; i < 2; i++) {
      const names = [1, 1, 2, 2].map((n) => `${prefix}${n}_${i}`)
      const held = names.map((name) =>
        redisson.run(async () => {
          const lock = redisson.getLock(name)
          const locked = await lock.tryLock(100, -1)
          if (locked) await lock.unlock()
          return locked
        }),
      )
      expect(await Promise.all(held)).to.deep.equal([true, true, true, true])
    }
  })

  it('RedissonLockTest.testInCluster: locked and free again, three times', async () => {
    const redisson = await inCluster()
    await redisson.run(async () => {
      for (let i = 0; i < 3; i++) {
        const lock = redisson.getLock(name)
        await lock.lock()
        expect(await lock.isLocked()).to.equal(true)
        await lock.unlock()
        expect(await lock.isLocked()).to.equal(false)
      }
    })
  })

  // There the name says more than the test does; here the slot moves to another node half-way.
  it('RedissonLockTest.testLockFailoverInCluster: thirty tries in a cluster while the slot moves', async () => {
    const redisson = await inCluster()
    const cluster = await sharedCluster()
    const slot = calculateSlot(name)
    const owner = cluster.nodes.indexOf(await cluster.ownerOf(slot))
    let moving: Promise<void> | undefined
    await redisson.run(async () => {
      for (let i = 0; i < 30; i++) {
        if (i === 10) moving = cluster.migrateSlot(slot, (owner + 1) % 3)
        const lock = redisson.getLock(name)
        expect(await lock.tryLock(2_000)).to.equal(true)
        await lock.unlock()
      }
    })
    await moving
    await cluster.migrateSlot(slot, owner)
    expect(await redisson.getLock(name).isLocked()).to.equal(false)
  })

  // There it looks into the renewal's map; here a hold that the watchdog overlooked would be gone.
  it("RedissonLockTest.testConcurrencyTryLockUnLock: a hold amid others' tries is renewed", async () => {
    const redisson = await createRedisson({ lockWatchdogTimeout: 300 })
    const lock = redisson.getLock(uniqueName())
    let held = 0
    let kept = 0
    const caller = () =>
      redisson.run(async () => {
        for (let i = 0; i < 300; i++) {
          if (!(await lock.tryLock())) continue
          if (++held % 200 === 0) {
            await sleep(450)
            kept++
          }
          await lock.unlock()
        }
      })
    // Those who are waited for keep trying meanwhile, and run out of tries; so some come later.
    for (let wave = 0; wave < 4; wave++) await Promise.all(Array.from({ length: 16 }, caller))
    expect(kept).to.be.greaterThan(0)
    expect(await lock.isLocked()).to.equal(false)
  })
})
