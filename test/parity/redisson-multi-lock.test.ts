import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { TimeUnit } from '../../src/index'
import { timed, uniqueName } from '../kit/clients'
import { clientAndRedis, redisson } from '../kit/each-test'
import { type Standalone, startStandalone } from '../kit/servers/index'
import { heldByAnotherThread, heldOnThreeServers } from './multi-lock-checks'

/** Redisson's own tests of the multi lock, asked of ours: one here for each there, by its name. */
describe("Redisson's tests of multi locks", () => {
  clientAndRedis()

  it('RedissonMultiLockTest.testLockUnlock: held by its thread between lock() and unlock()', async () => {
    const prefix = uniqueName()
    const lock = redisson.getMultiLock(...[1, 2, 3].map((n) => redisson.getLock(`${prefix}:${n}`)))
    await redisson.run(async () => {
      await lock.lock(10, TimeUnit.SECONDS)
      expect(await lock.isHeldByCurrentThread()).to.equal(true)
      await sleep(50)
      await lock.unlock()
      expect(await lock.isHeldByCurrentThread()).to.equal(false)
    })
    await lock.lock({ leaseTime: 10_000, threadId: 7 })
    expect(await lock.isHeldByThread(7)).to.equal(true)
    await lock.unlock({ threadId: 7 })
    expect(await lock.isHeldByThread(7)).to.equal(false)
  })

  it('RedissonMultiLockTest.testWaitAndLeaseTimeouts: of ten threads that try once, one gets all', async () => {
    const prefix = uniqueName()
    const locks = [1, 2, 3].map((n) => redisson.getLock(`${prefix}:${n}`))
    let acquired = 0
    const thread = () =>
      redisson.run(async () => {
        const lock = redisson.getMultiLock(...locks)
        if (await lock.tryLock(-1, 10, TimeUnit.SECONDS)) acquired++
      })
    expect(await timed(() => Promise.all(Array.from({ length: 10 }, thread)))).to.be.below(1_000)
    expect(acquired).to.equal(1)
  })

  it('RedissonMultiLockTest.testMultiThreads: one thread enters after the other', () =>
    heldByAnotherThread(redisson))

  describe('on servers of their own', () => {
    let servers: Standalone[]

    before(async () => {
      servers = await Promise.all(Array.from({ length: 3 }, () => startStandalone()))
    })
    after(() => Promise.all((servers ?? []).map((server) => server.stop())))

    it('RedissonMultiLockTest.test: held on three servers, it keeps another thread out', () =>
      heldOnThreeServers(servers))
  })
})
