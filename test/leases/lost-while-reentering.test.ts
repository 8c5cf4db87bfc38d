import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { LockHold } from '../../src/index'
import { createRedisson, rejection } from '../kit/clients'
import { name, redis, redisAndName } from '../kit/each-test'
import { JumpingClock } from '../kit/jumping-clock'
import { leftIn } from '../kit/left-in'
import { eventsOf } from '../kit/observing'
import { waitUntil } from '../kit/servers/index'
import { asleep } from '../kit/sleepers'
import { tapped } from '../kit/tapped-transport'

const WATCHDOG = 3_000
const LEASE = 60_000

describe('A hold that ends while it is re-entered', () => {
  redisAndName()

  for (const kind of ['lock', 'readLock', 'writeLock'] as const)
    it(`A hold that is lost while it is re-entered is released, not renewed for ever: ${kind}`, async () => {
      const clock = new JumpingClock()
      const held: LockHold[] = []
      const looked: boolean[] = []
      const transport = tapped((sent) => {
        if (sent.name.endsWith('/reenter') && looked.length === 0) {
          // Its first copy breaks off, and before the next is sent somebody looks, past the deadline.
          clock.jumped += 2 * WATCHDOG
          looked.push(held[0]!.isHeld)
          return Promise.reject(new Error('Connection is closed.'))
        }
        return sent.pass()
      })
      const redisson = await createRedisson({ lockWatchdogTimeout: WATCHDOG }, { clock, transport })
      redisson.on('error', () => {})
      const lost = eventsOf(redisson, 'lockLost')
      const lock = kind === 'lock' ? redisson.getLock(name) : redisson.getReadWriteLock(name)[kind]()
      const who = { threadId: 1 }
      held.push(await lock.acquire(who))

      expect(await rejection(lock.acquire(who))).to.have.property('code', 'LOCK_LOST')
      expect(looked).to.deep.equal([false])
      await waitUntil('it is released', async () => (await redis.exists(name)) === 0, WATCHDOG / 3)

      expect(await rejection(held[0]!.unlock())).to.have.property('code', 'LOCK_LOST')
      expect(lost).to.have.length(1)
      const nothingLeft = async () => Object.keys(leftIn(redisson)).length === 0
      await waitUntil('nothing of it is left', nothingLeft, 2 * WATCHDOG)
      // All its levels are settled: its caller starts afresh.
      await (await lock.acquire(who)).unlock()
    })

  for (const kind of ['lock', 'fencedLock', 'readLock', 'writeLock'] as const)
    for (const answer of ['re-entered', 'gone'] as const)
      it(`A lock() while the lease ends starts afresh: ${kind}, answer ${answer}`, async () => {
        const clock = new JumpingClock()
        let reentered = false
        const transport = tapped(async (sent) => {
          if (!sent.name.endsWith('/reenter') || reentered) return sent.pass()
          reentered = true
          if (answer === 'gone') await redis.del(name)
          clock.jumped += LEASE
          // A look ends the hold here before the answer arrives.
          if (answer === 're-entered') expect(outer.isHeld).to.equal(false)
          return sent.pass()
        })
        const redisson = await createRedisson({}, { clock, transport })
        const lost = eventsOf(redisson, 'lockLost')
        const lock =
          kind === 'lock'
            ? redisson.getLock(name)
            : kind === 'fencedLock'
              ? redisson.getFencedLock(name)
              : redisson.getReadWriteLock(name)[kind]()
        const who = { threadId: 1, leaseTime: LEASE }
        const outer = await lock.acquire(who)

        expect(await lock.tryLock({ ...who, waitTime: 2 * LEASE })).to.equal(true)
        expect(reentered).to.equal(true)
        expect(await redis.hvals(name))
          .to.include('1')
          .and.not.include('2')
        expect(outer.isHeld).to.equal(false)
        expect(await rejection(outer.unlock())).to.have.property('code', 'LOCK_LOST')
        expect(lost).to.deep.equal([])
        expect(await lock.isHeldByThread(1)).to.equal(true)
        await lock.unlock({ threadId: 1 })
        await waitUntil('nothing is left', async () => (await redis.exists(name)) === 0, 5_000)
        await waitUntil(
          'nothing of it is left in the client',
          async () => Object.keys(leftIn(redisson)).length === 0,
          5_000,
        )
      })

  it('A reader that re-enters as its leases end starts afresh, and waits for no own hold', async () => {
    const clock = new JumpingClock()
    const transport = tapped(async (sent) => {
      if (sent.name === 'read-lock/reenter') {
        clock.jumped += LEASE
        expect([reading.isHeld, writing.isHeld]).to.deep.equal([false, false])
      }
      return sent.pass()
    })
    const redisson = await createRedisson({}, { clock, transport })
    const lock = redisson.getReadWriteLock(name)
    const who = { threadId: 1 }
    const leased = { ...who, leaseTime: LEASE }
    const writing = await lock.writeLock().acquire(leased)
    const reading = await lock.readLock().acquire(leased)

    await lock.readLock().lock(who)
    for (const hold of [reading, writing])
      expect(await rejection(hold.unlock())).to.have.property('code', 'LOCK_LOST')
    await lock.readLock().unlock(who)
    await waitUntil('nothing is left', async () => (await redis.exists(name)) === 0, 5_000)
  })

  for (const leaseTime of [undefined, LEASE])
    it(`A re-entry that finds the lock gone wakes local waiters: leaseTime ${leaseTime}`, async () => {
      const clock = new JumpingClock()
      let reentered = false
      const transport = tapped(async (sent) => {
        if (sent.name === 'lock/reenter' && !reentered) {
          reentered = true
          await redis.del(name)
          clock.jumped += LEASE
        }
        return sent.pass()
      })
      const redisson = await createRedisson({}, { clock, transport })
      const reasons: string[] = []
      redisson.on('lockLost', ({ reason }) => reasons.push(reason))
      const lock = redisson.getLock(name)
      const who = { threadId: 1, ...(leaseTime && { leaseTime }) }
      await lock.lock(who)
      const waiting = lock.acquire({ threadId: 2 })
      await asleep(redisson, `lock ${name}`)

      const again = lock.acquire(who).catch((error: unknown) => error)
      const woken = await Promise.race([waiting, sleep(5_000, undefined, { ref: false })])
      expect(woken).to.have.property('isHeld', true)
      await woken!.unlock()
      if (leaseTime) await ((await again) as LockHold).unlock()
      else expect(await again).to.have.property('code', 'LOCK_LOST')
      expect(reasons).to.deep.equal(leaseTime ? [] : ['gone'])
    })

  it('A tryLock() whose re-entry found no hold any more waits for the rest of its waitTime only', async () => {
    const clock = new JumpingClock()
    const transport = tapped(async (sent) => {
      if (sent.name === 'lock/reenter') {
        await redis.del(name)
        await redis.hset(name, 'another:1', 1)
        clock.jumped += LEASE
      }
      return sent.pass()
    })
    const lock = (await createRedisson({}, { clock, transport })).getLock(name)
    const who = { threadId: 1, leaseTime: LEASE }
    await lock.lock(who)

    expect(await lock.tryLock({ ...who, waitTime: LEASE })).to.equal(false)
    await redis.del(name)
  })

  it('A grant after the lease, the wait and the grace is followed by one more try (V220)', async () => {
    let standsStill = false
    const transport = tapped((sent) => {
      const answer = sent.pass()
      if (sent.name !== 'lock/acquire' || !standsStill) return answer
      standsStill = false
      const until = performance.now() + 1_300
      while (performance.now() < until);
      return answer
    })
    const redisson = await createRedisson({}, { transport })
    const multi = redisson.getMultiLock(redisson.getLock(name), redisson.getLock(`${name}:2`))
    await multi.withLock(() => {})
    standsStill = true
    const hold = await redisson.getLock(name).tryAcquire({ waitTime: 30, leaseTime: 300 })
    await hold!.unlock()
    standsStill = true
    await (await multi.acquire({ leaseTime: 300 })).unlock()
  })

  it('A wait ends in time while each grant comes after its lease', async () => {
    const transport = tapped(async (sent) => {
      const answer = await sent.pass()
      if (sent.name === 'lock/acquire') await sleep(400)
      return answer
    })
    const redisson = await createRedisson({}, { transport })
    const began = performance.now()
    const error = await rejection(redisson.getLock(name).tryLock({ waitTime: 200, leaseTime: 300 }))
    expect(error.message).to.match(/was acquired [23] times in a row/)
    expect(performance.now() - began).to.be.below(3_000)
    await waitUntil('it is released', async () => (await redis.exists(name)) === 0)
  })
})
