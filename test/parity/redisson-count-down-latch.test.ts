import { expect } from 'chai'
import { TimeUnit } from '../../src/index'
import { createRedisson, uniqueName } from '../kit/clients'
import { stillPending } from '../kit/observing'
import { asleep } from '../kit/sleepers'

/** Redisson's own tests of RCountDownLatch, asked of ours: one here for each there, by its name. */
describe("Redisson's tests of latches", () => {
  async function newLatch(count?: number) {
    const redisson = await createRedisson()
    const name = uniqueName('latch')
    const latch = redisson.getCountDownLatch(name)
    if (count !== undefined) expect(await latch.trySetCount(count)).to.equal(true)
    return { redisson, name, latch }
  }

  it('RedissonCountDownLatchTest.testAwaitTimeout: a bounded wait ends with zero', async () => {
    const { redisson, name, latch } = await newLatch(1)
    const waiting = latch.await(2, TimeUnit.SECONDS)
    await asleep(redisson, `latch ${name}`)
    await redisson.getCountDownLatch(name).countDown()
    expect(await waiting).to.equal(true)
  })

  it('RedissonCountDownLatchTest.testAwaitTimeoutFail: a bounded wait ends without zero', async () => {
    const { latch } = await newLatch(1)
    expect(await latch.await(100, TimeUnit.MILLISECONDS)).to.equal(false)
    expect(await latch.getCount()).to.equal(1)
  })

  it('RedissonCountDownLatchTest.testMultiAwait: many that wait, in many objects, all go on', async () => {
    const { redisson, name, latch } = await newLatch(5)
    const waiting = Array.from({ length: 20 }, () => redisson.getCountDownLatch(name).await(5_000))
    await asleep(redisson, `latch ${name}`, 20)
    for (let each = 0; each < 5; each++) await latch.countDown()
    expect(await Promise.all(waiting)).to.deep.equal(Array(20).fill(true))
  })

  it('RedissonCountDownLatchTest.testCountDown: goes down to zero, and is set again', async () => {
    const { latch } = await newLatch(2)
    for (const left of [1, 0, 0]) {
      await latch.countDown()
      expect(await latch.getCount()).to.equal(left)
    }
    await latch.await()
    expect(await latch.trySetCount(1)).to.equal(true)
    await latch.countDown()
    await latch.await()
    expect(await latch.getCount()).to.equal(0)
  })

  it('RedissonCountDownLatchTest.testDelete: one that was set is deleted', async () => {
    const { latch } = await newLatch(1)
    expect(await latch.delete()).to.equal(true)
  })

  it('RedissonCountDownLatchTest.testDeleteFailed: one that was not set is not', async () => {
    const { latch } = await newLatch()
    expect(await latch.delete()).to.equal(false)
  })

  it('RedissonCountDownLatchTest.testTrySetCount: a count is set once', async () => {
    const { latch } = await newLatch(1)
    expect(await latch.trySetCount(2)).to.equal(false)
    expect(await latch.getCount()).to.equal(1)
  })

  it('RedissonCountDownLatchTest.testCount: a count is what was set, zero before', async () => {
    const { latch } = await newLatch()
    expect(await latch.getCount()).to.equal(0)
    await latch.trySetCount(2)
    expect(await latch.getCount()).to.equal(2)
  })

  it('RedissonCountDownLatchConcurrentTest.testSingleCountDownAwait_SingleInstance: fifty', async () => {
    const { redisson, name, latch } = await newLatch(50)
    const waiting = Promise.all(Array.from({ length: 50 }, () => redisson.getCountDownLatch(name).await()))
    await asleep(redisson, `latch ${name}`, 50)
    await Promise.all(Array.from({ length: 49 }, () => latch.countDown()))
    expect(await stillPending(waiting, 50)).to.equal(true)
    await latch.countDown()
    await waiting
  })
})
