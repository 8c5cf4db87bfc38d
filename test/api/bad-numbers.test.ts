import { expect } from 'chai'
import { TimeUnit } from '../../src/index'
import { openRedis, rejection } from '../kit/clients'
import { clientAndRedis, lock, name, redis, redisson } from '../kit/each-test'
import { expectHandledRejections } from '../kit/observing'
import { SentScripts } from '../kit/sent-scripts'

const BEYOND = 2 ** 53

describe('Leases, waits and thread ids that make no sense', () => {
  const sent = new SentScripts()
  expectHandledRejections()

  clientAndRedis('numbers', {}, { transport: sent.transport })
  beforeEach(() => {
    sent.names.length = 0
  })

  /** Every call is refused with this error before anything is sent. */
  async function expectRefused(
    type: typeof RangeError | typeof TypeError,
    calls: (() => Promise<unknown>)[],
  ) {
    for (const call of calls) {
      const error = await rejection(call())
      expect(error, String(call)).to.be.instanceOf(type)
      expect(error.message, String(call)).to.match(/leaseTime|waitTime|threadId|unit/)
    }
    expect(sent.names, 'sent').to.deep.equal([])
    expect(await (await openRedis()).exists(name)).to.equal(0)
  }

  const withLease = (lease: number) => {
    const lock = redisson.getLock(name)
    const leaseTime = lease
    return [
      () => lock.lock(lease),
      () => lock.lock(lease, TimeUnit.MILLISECONDS),
      () => lock.lock({ leaseTime }),
      () => lock.tryLock(0, lease),
      () => lock.tryLock(10, lease),
      () => lock.tryLock(10, lease, TimeUnit.MILLISECONDS),
      () => lock.tryLock({ leaseTime }),
      () => lock.acquire({ leaseTime }),
      () => lock.tryAcquire({ leaseTime }),
      () => lock.withLock(() => {}, { leaseTime }),
      () => lock.lock({ leaseTime, threadId: 1 }),
    ]
  }

  for (const lease of [0, -0, -2, -0.5, -BEYOND, Number.NaN, Infinity, -Infinity, BEYOND, Number.MAX_VALUE])
    it(`A lease of ${Object.is(lease, -0) ? '-0' : lease} is a RangeError in every acquiring call`, async () => {
      await expectRefused(RangeError, withLease(lease))
    })

  it('A lease that is too long only in its unit is a RangeError', async () => {
    await expectRefused(RangeError, [
      () => lock.lock(2 ** 51, TimeUnit.SECONDS),
      () => lock.tryLock(1, 2 ** 51, TimeUnit.SECONDS),
      () => lock.tryLock(2 ** 51, TimeUnit.DAYS),
    ])
  })

  for (const wait of [Number.NaN, -Infinity, BEYOND, Number.MAX_VALUE])
    it(`A wait of ${wait} is a RangeError in every call that takes one`, async () => {
      await expectRefused(RangeError, [
        () => lock.tryLock(wait),
        () => lock.tryLock(wait, TimeUnit.SECONDS),
        () => lock.tryLock(wait, 1_000),
        () => lock.tryLock(wait, 1_000, TimeUnit.SECONDS),
        () => lock.tryLock({ waitTime: wait }),
        () => lock.tryAcquire({ waitTime: wait }),
      ])
    })

  for (const huge of [2 ** 31, 2 ** 31 + 0.5, BEYOND - 1])
    it(`${huge} is a lease and a wait like any other: set whole, and slept through`, async () => {
      await lock.lock(huge)
      // Of a number this large the client that looks may lose the last digit.
      expect(await redis.pttl(name))
        .to.be.at.most(Math.ceil(huge) + 1)
        .and.above(Math.ceil(huge) - 60_000)
      sent.names.length = 0
      // setTimeout would wrap to "at once" and the waiter spin, or give up.
      const waiting = redisson.getLock(name).tryLock(huge, huge)
      const hold = redisson.getLock(name).tryAcquire({ waitTime: huge })
      await new Promise((resolve) => setTimeout(resolve, 300))
      expect(sent.names.length, 'attempts while waiting').to.be.below(4)
      expect(await lock.isHeldByCurrentThread()).to.equal(true)
      await lock.unlock()
      expect(await waiting).to.equal(true)
      await lock.forceUnlock()
      await (await hold)!.unlock()
    })

  for (const id of [0, -1, 1.5, Number.NaN, Infinity, BEYOND])
    it(`A threadId of ${id} is a RangeError`, async () => {
      await expectRefused(RangeError, [
        () => lock.lock({ threadId: id }),
        () => lock.tryLock({ threadId: id }),
        () => lock.acquire({ threadId: id }),
        () => lock.tryAcquire({ threadId: id }),
        () => lock.unlock({ threadId: id }),
        () => lock.isHeldByThread(id),
      ])
    })

  for (const value of ['5', null, 5n, true, Symbol('5'), {}, [], () => 5] as never[])
    it(`${typeof value === 'symbol' ? 'a symbol' : `${typeof value} ${value}`} is no number: TypeError`, async () => {
      await expectRefused(TypeError, [
        () => lock.tryLock(1, value),
        () => lock.lock({ leaseTime: value }),
        () => lock.tryLock({ waitTime: value }),
        () => lock.tryLock({ leaseTime: value }),
        () => lock.acquire({ leaseTime: value }),
        () => lock.tryAcquire({ waitTime: value }),
        () => lock.withLock(() => {}, { leaseTime: value }),
        () => lock.lock({ threadId: value }),
        () => lock.unlock({ threadId: value }),
        () => lock.isHeldByThread(value),
      ])
    })
})
