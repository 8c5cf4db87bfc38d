import { expect } from 'chai'
import {
  IllegalMonitorStateError,
  LockLostError,
  type LockLostEvent,
  type Redisson,
  type RLock,
  TimeUnit,
} from '../../src/index'
import { createRedisson, rejection } from '../kit/clients'
import { name, redis, redisAndName } from '../kit/each-test'
import { eventsOf } from '../kit/observing'
import { SentScripts } from '../kit/sent-scripts'
import { waitUntil } from '../kit/servers/index'
import { latch, tapped } from '../kit/tapped-transport'
import { counts, type Primitive } from './primitive'

/** Who holds, how often, and who may release: rows C of docs/internals/failure-modes.md. And the holds that acquire() gives. */
export function ownershipSuite(primitive: Primitive) {
  const a = primitive.name
  const levels = primitive.nonReentrant ? 1 : 2

  describe(`Ownership and holds of a ${a}`, () => {
    let sent: SentScripts
    let redisson: Redisson
    let lock: RLock
    let lost: LockLostEvent[]

    redisAndName('ownership')
    beforeEach(async () => {
      sent = new SentScripts()
      redisson = await createRedisson({}, { transport: sent.transport })
      lock = lockOf(redisson)
      lost = []
      redisson.on('lockLost', (event) => lost.push(event))
    })

    const lockOf = (client: Redisson): RLock => primitive.create(client, name)
    const holds = () => primitive.holds(redis, name)
    /** By commands that every server has, the one in memory included. */
    const valueAt = async () =>
      (await redis.type(name)) === 'string' ? redis.get(name) : redis.hgetall(name)
    const gone = () => primitive.expectNothingLeft(redis, name)
    const isFree = async () => (await redis.exists(name)) === 0

    it(`A ${a} that is free has no holder, no lease and nothing to release by force`, async () => {
      expect(lock.getName()).to.equal(name)
      expect(await lock.isLocked()).to.equal(false)
      expect(await lock.isHeldByCurrentThread()).to.equal(false)
      expect(await lock.isHeldByThread(1)).to.equal(false)
      expect(await lock.getHoldCount()).to.equal(0)
      expect(await lock.remainTimeToLive()).to.equal(-2)
      expect(await lock.forceUnlock()).to.equal(false)
      await gone()
    })

    it(`A ${a} counts and answers by caller, and thread ids are local to a client`, async () => {
      for (let level = 0; level < levels; level++) await lock.lock({ threadId: 1 })
      expect(await lock.isHeldByThread(1)).to.equal(true)
      expect(await lock.isHeldByThread(2)).to.equal(false)
      expect(await lock.isHeldByCurrentThread()).to.equal(false)
      expect(await lock.getHoldCount()).to.equal(0)
      expect(await lock.isLocked()).to.equal(true)
      expect(await lockOf(await createRedisson()).isHeldByThread(1)).to.equal(false)
      expect(await lock.remainTimeToLive()).to.be.within(28_000, 60_000)
      for (let level = 0; level < levels; level++) await lock.unlock({ threadId: 1 })
      expect(await lock.isLocked()).to.equal(false)
      expect(await lock.remainTimeToLive()).to.equal(-2)
    })

    const itReenters = primitive.nonReentrant ? () => {} : it
    itReenters(`A logical thread re-enters a ${a} through any object and in child threads`, async () => {
      await redisson.run(async () => {
        await lock.lock()
        expect(await lockOf(redisson).tryLock()).to.equal(true)
        await lockOf(redisson).withLock(async () => {
          expect(await counts(primitive, redis, name)).to.deep.equal([3])
          expect(await lock.getHoldCount()).to.equal(3)
        })
        expect(await lock.getHoldCount()).to.equal(2)
        await lock.unlock()
        await lock.unlock()
        expect((await rejection(lock.unlock())).name).to.equal('IllegalMonitorStateError')
      })
      await gone()
    })

    itReenters(
      `A level of a ${a} that arrives after its caller has left is released by no other call (V2)`,
      async () => {
        const arrives = latch()
        let isLate = false
        const transport = tapped(async (script) => {
          const answer = await script.pass()
          if (script.name !== primitive.scripts.reenter || !isLate) return answer
          isLate = false
          await arrives.opened
          return answer
        })
        const own = await createRedisson({ lockWatchdogTimeout: 1_200 }, { transport })
        own.on('lockLost', (event) => lost.push(event))
        await own.run(async () => {
          await lockOf(own).lock()
          isLate = true
          expect((await rejection(lockOf(own).tryLock(30))).name).to.equal('RedisUnavailableError')
          const unlocking = lockOf(own).unlock()
          const branch = lockOf(own).withLock(async (hold) => {
            await unlocking
            // Longer than the lease: the watchdog renews what the branch holds.
            await new Promise((resolve) => setTimeout(resolve, 1_500))
            expect(hold.isHeld).to.equal(true)
            expect(await counts(primitive, redis, name)).to.deep.equal([1])
          })
          arrives.open()
          await branch
        })
        await gone()
        expect(lost).to.deep.equal([])
      },
    )

    it(`A ${a} takes its wait and its lease in units`, async () => {
      expect(await lock.tryLock(1, 20, TimeUnit.SECONDS)).to.equal(true)
      expect(await lock.remainTimeToLive()).to.be.within(12_000, 20_000)
      await lock.unlock()
      await lock.lock(1, TimeUnit.MINUTES)
      expect(await lock.remainTimeToLive()).to.be.within(52_000, 60_000)
      await lock.unlock()
      expect((await rejection(lock.lock(0))).name).to.equal('RangeError')
      await gone()
    })

    it(`A ${a} held by another client answers by the server's state, also without expiry`, async () => {
      await primitive.blocker(redis, name).take()
      expect(await lock.isHeldByCurrentThread()).to.equal(false)
      expect(await lock.isHeldByThread(1)).to.equal(false)
      expect(await lock.getHoldCount()).to.equal(0)
      expect(await lock.tryLock()).to.equal(false)
    })

    it(`The thread id of a hold of a ${a} is the one in Redis`, async () => {
      const { threadId } = await lock.acquire()
      expect(await holds()).to.deep.equal({ [primitive.ownerField(redisson.getId(), threadId)]: 1 })
    })

    it(`An expired hold of a ${a} does not release its successor (C3)`, async () => {
      await lock.lock({ threadId: 1, leaseTime: 80 })
      await waitUntil('its lease ended', isFree, 5_000, 5)
      const successor = lockOf(await createRedisson())
      await successor.lock({ threadId: 1 })
      const before = await holds()
      expect((await rejection(lock.unlock({ threadId: 1 }))).name).to.equal('LockLostError')
      expect(await holds()).to.deep.equal(before)
      expect(lost, 'the end of an explicit lease is no loss').to.deep.equal([])
    })

    it(`Bare unlock() of a ${a} settles an expired hold before a live one (C3)`, async () => {
      await lock.lock(60)
      await waitUntil('its lease ended', isFree, 5_000, 5)
      await lock.lock()
      const successor = await holds()
      expect(await lock.getHoldCount(), 'the next unlock() releases nothing').to.equal(0)
      sent.names.length = 0
      expect(await rejection(lock.unlock())).to.be.instanceOf(LockLostError)
      // Each read hold has a field of its own: the client may still ask the server to delete the expired one.
      const allowed = primitive.shared ? [primitive.scripts.release] : []
      expect(
        sent.names.filter((script) => !allowed.includes(script)),
        'sent',
      ).to.deep.equal([])
      expect(await holds()).to.deep.equal(successor)
      expect(await lock.isHeldByCurrentThread()).to.equal(true)
      await lock.unlock()
      expect(sent.count(primitive.scripts.release)).to.be.at.least(1)
      await gone()
    })

    it(`Bare unlock() of a ${a} settles holds that were lost by force before a live one (C3)`, async () => {
      for (let round = 0; round < 2; round++) {
        await lock.lock()
        await lock.forceUnlock()
      }
      await lock.lock()
      sent.names.length = 0
      expect(await rejection(lock.unlock())).to.be.instanceOf(LockLostError)
      expect(await rejection(lock.unlock())).to.be.instanceOf(LockLostError)
      expect(sent.names).to.deep.equal([])
      await lock.unlock()
      const error = await rejection(lock.unlock())
      expect(error).to.be.instanceOf(IllegalMonitorStateError).and.not.instanceOf(LockLostError)
      expect(await lock.isLocked()).to.equal(false)
    })

    it(`unlock() of a ${a} that is not held is an error that names it (C4)`, async () => {
      const refused = async (state: string) => {
        for (const call of [
          () => lock.unlock(),
          () => lock.unlock({ threadId: 1 }),
          () => redisson.run(() => lock.unlock()),
        ]) {
          const error = await rejection(call())
          expect(error, state).to.include({ name: 'IllegalMonitorStateError', code: 'ILLEGAL_MONITOR_STATE' })
          expect(error.message, state).to.contain(name).and.to.contain(redisson.getId())
        }
      }
      await refused('free')
      const blocker = primitive.blocker(redis, name)
      await blocker.take()
      const theirs = await valueAt()
      await refused('held by another')
      expect(await valueAt()).to.deep.equal(theirs)
      await blocker.vanish()
      await lock.lock()
      await lock.unlock()
      await refused('released')
      await gone()
    })

    it(`A forced release of a ${a} ends its own client's holds at once (C5)`, async () => {
      const brief = await createRedisson({ lockWatchdogTimeout: 600 })
      const losses = eventsOf(brief, 'lockLost')
      const hold = await lockOf(brief).acquire()
      expect(hold.signal.aborted).to.equal(false)
      expect(await lockOf(brief).forceUnlock()).to.equal(true)
      expect(hold.isHeld).to.equal(false)
      expect(hold.signal.reason).to.be.instanceOf(LockLostError)
      expect(losses.map(({ lockName, threadId, reason }) => ({ lockName, threadId, reason }))).to.deep.equal([
        { lockName: name, threadId: hold.threadId, reason: 'forced' },
      ])
      expect(losses[0]!.error).to.be.instanceOf(LockLostError)
      // Another client acquires without expiry: a renewal of ours would give the key one.
      const blocker = primitive.blocker(redis, name)
      await blocker.take()
      const theirs = await valueAt()
      await new Promise((resolve) => setTimeout(resolve, 500))
      expect(await redis.pttl(name)).to.equal(-1)
      expect(await rejection(hold.unlock())).to.be.instanceOf(LockLostError)
      expect(await valueAt()).to.deep.equal(theirs)
      await blocker.vanish()
      expect(await lockOf(brief).forceUnlock()).to.equal(false)
    })

    it(`A second acquisition of a ${a} by a caller whose first is unanswered is refused`, async () => {
      await primitive.blocker(redis, name).take(60_000)
      const first = lock.tryLock({ threadId: 1, waitTime: 200 })
      expect((await rejection(lock.lock({ threadId: 1 }))).name).to.equal('IllegalMonitorStateError')
      expect(await first).to.equal(false)
    })

    it(`shutdown() leaves a ${a} to its lease and aborts the signals of its holds (guarantee 9)`, async () => {
      const hold = await lock.acquire({ leaseTime: 60_000 })
      await redisson.shutdown({ timeout: 0 })
      expect(hold.signal.reason).to.have.property('name', 'RedissonShutdownError')
      expect(await redis.pttl(name)).to.be.greaterThan(50_000)
      expect((await rejection(lock.lock())).name).to.equal('RedissonShutdownError')
    })
  })
}
