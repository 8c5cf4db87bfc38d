import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { createRedisson } from '../kit/clients'
import { clientAndRedis, name, redis, redisson } from '../kit/each-test'
import { ForeignFairLock } from '../kit/foreign-fair-lock'
import { waitUntil } from '../kit/servers/index'
import { rlockTests } from './rlock-tests'

/** Redisson's own tests of the fair lock as of any lock; those of its queue are in redisson-fair-lock-queue.test.ts. */
describe("Redisson's tests of fair locks", () => {
  clientAndRedis()

  rlockTests('RedissonFairLockTest', (redisson, name) => redisson.getFairLock(name))

  it('RedissonFairLockTest.testTryLockNonDelayed: a wait that ended delays no later try', async () => {
    const lock = redisson.getFairLock(name)
    await redisson.run(async () => {
      expect(await lock.tryLock(0)).to.equal(true)
      expect(await redisson.run(() => lock.tryLock(200))).to.equal(false)
      await lock.unlock()
    })
    expect(await lock.tryLock(0)).to.equal(true)
    await lock.unlock()
  })

  it('RedissonFairLockTest.testMultipleLocks: five hundred threads of one client each enter once', async () => {
    let [inside, entered] = [0, 0]
    const thread = () =>
      redisson.run(async () => {
        const lock = redisson.getFairLock(name)
        await lock.lock(5_000)
        expect(++inside).to.equal(1)
        await sleep(1)
        inside--
        entered++
        await lock.unlock()
      })
    await Promise.all(Array.from({ length: 500 }, thread))
    expect(entered).to.equal(500)
  })

  it('RedissonFairLockTest.testNameMapper: the queue is under the mapped name', async () => {
    const redisson = await createRedisson({ nameMapper: { map: (name) => `test::${name}` } })
    const { queue } = new ForeignFairLock(redis, `test::${name}`)
    const lock = redisson.getFairLock(name)
    expect(await lock.isLocked()).to.equal(false)
    await redisson.run(async () => {
      await lock.lock()
      expect(await lock.isLocked()).to.equal(true)
      const waiting = redisson.run(() => lock.lock(100))
      await waitUntil('it is in the mapped queue', async () => (await redis.llen(queue)) === 1)
      await lock.unlock()
      await waiting
    })
    await waitUntil('its lease has ended', async () => !(await lock.isLocked()), 2_000)
  })
})
