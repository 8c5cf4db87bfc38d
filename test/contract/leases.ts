import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { rejection, uniqueName } from '../kit/clients'
import type { Primitive } from './primitive'
import { sceneOf } from './scene'

/** Far enough apart that no slow machine mistakes one for another. */
const SHORT = 100_000
const LONG = 500_000
const DEFAULT = 30_000

/** The owner of a lease: rows B4 and B5 of docs/internals/failure-modes.md, and guarantee 6. */
export function leasesSuite(primitive: Primitive) {
  const a = primitive.name

  describe(`Leases of a ${a}`, () => {
    const scene = sceneOf(primitive)

    async function expectLease(lease: number) {
      // A re-entry keeps its lease's end a few ms apart from that of a level released just before.
      expect(await scene.redis.pttl(scene.name))
        .to.be.at.most(lease + 5)
        .and.above(lease - DEFAULT + 1_000)
    }

    /** The lease of the key after a re-entry. */
    const onTop = (outer: number, inner: number) =>
      primitive.addsLeases ? outer + inner : Math.max(outer, inner)

    it(`The lease of one caller of a ${a} is not that of the next (B4)`, async () => {
      const redisson = await scene.open({}, DEFAULT)
      const lock = scene.lockOf(redisson)
      await lock.lock(LONG)
      await lock.unlock()
      await lock.lock()
      await expectLease(DEFAULT)
      await lock.unlock()
      expect(await lock.tryLock(0, SHORT)).to.equal(true)
      await expectLease(SHORT)
      await lock.unlock()
      await redisson.run(async () => {
        await lock.lock()
        await expectLease(DEFAULT)
        await lock.unlock()
      })
    })

    it(`The lease of one ${a} is not the lease of another (B4)`, async () => {
      const redisson = await scene.open({}, DEFAULT)
      await redisson.run(async () => {
        const other = scene.lockOf(redisson, uniqueName('lease'))
        await other.lock(LONG)
        await scene.lockOf(redisson).lock()
        await expectLease(DEFAULT)
        await other.unlock()
      })
    })

    it(`A partial unlock() of a ${a} leaves the lease of the other levels (B5)`, async () => {
      const redisson = await scene.open({}, DEFAULT)
      const lock = scene.lockOf(redisson)
      await redisson.run(async () => {
        await lock.lock(LONG)
        await lock.lock(LONG)
        await lock.unlock()
        await expectLease(LONG)
        await lock.lock()
        await expectLease(onTop(LONG, DEFAULT))
        await lock.unlock()
        await expectLease(LONG)
        await lock.unlock()
      })
      await primitive.expectNothingLeft(scene.redis, scene.name)
    })

    it(`A partial unlock() of a ${a} by another object leaves the right lease (B5)`, async () => {
      const redisson = await scene.open({}, DEFAULT)
      await redisson.run(async () => {
        await scene.lockOf(redisson).lock(LONG)
        await scene.lockOf(redisson).lock(LONG)
        await scene.lockOf(redisson).unlock()
        await expectLease(LONG)
      })
    })

    it(`An inner lease of a ${a} never shortens the outer one (guarantee 6)`, async () => {
      const redisson = await scene.open({}, DEFAULT)
      const lock = scene.lockOf(redisson)
      await redisson.run(async () => {
        await lock.lock(SHORT)
        await lock.lock(5_000)
        await expectLease(onTop(SHORT, 5_000))
        await lock.unlock()
        await expectLease(SHORT)
        await lock.lock(LONG)
        await expectLease(onTop(SHORT, LONG))
        await lock.unlock()
        await expectLease(SHORT)
        await lock.unlock()
      })
    })

    it(`A hold of a ${a} that is released out of order takes its own lease along (guarantee 6)`, async () => {
      const redisson = await scene.open({}, DEFAULT)
      const lock = scene.lockOf(redisson)
      await redisson.run(async () => {
        const long = await lock.acquire({ leaseTime: LONG })
        const short = await lock.acquire({ leaseTime: SHORT })
        await expectLease(onTop(LONG, SHORT))
        await long.unlock()
        await expectLease(SHORT)
        await short.unlock()
      })
    })

    it(`A level of a ${a} without a lease is renewed under an ended lease`, async () => {
      const brief = await scene.open({}, 2_000)
      const lock = scene.lockOf(brief)
      await brief.run(async () => {
        const outer = await lock.acquire()
        await lock.lock(100)
        await sleep(2_400)
        expect(outer.isHeld).to.equal(true)
        expect(await lock.getHoldCount()).to.equal(2)
        await lock.unlock()
        await outer.unlock()
      })
    })

    it(`A caller of a ${a} whose lease ended starts afresh, each level answered`, async () => {
      const redisson = await scene.open({}, DEFAULT)
      const lock = scene.lockOf(redisson)
      await redisson.run(async () => {
        await lock.lock(500)
        await lock.lock(500)
        // Takes the place of an expiry: the lock must be free, and this call must not re-enter.
        await sleep(520)
        await lock.lock(LONG)
        expect(await lock.getHoldCount()).to.equal(1)
        await expectLease(LONG)
        await lock.unlock()
        await primitive.expectNothingLeft(scene.redis, scene.name)
        for (let level = 0; level < 2; level++)
          expect((await rejection(lock.unlock())).code).to.equal('LOCK_LOST')
        expect((await rejection(lock.unlock())).code).to.equal('ILLEGAL_MONITOR_STATE')
      })
    })
  })
}
