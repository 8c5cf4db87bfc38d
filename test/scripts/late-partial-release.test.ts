import { expect } from 'chai'
import type { Redisson, RLock } from '../../src/index'
import { createRedisson } from '../kit/clients'
import { name, redis, redisAndName } from '../kit/each-test'
import { tapped } from '../kit/tapped-transport'

const SIDES: Record<string, (redisson: Redisson, name: string) => RLock> = {
  lock: (redisson, name) => redisson.getLock(name),
  'read-lock': (redisson, name) => redisson.getReadWriteLock(name).readLock(),
  'write-lock': (redisson, name) => redisson.getReadWriteLock(name).writeLock(),
}

/** The release of one level of several, a copy of which arrives after the hold has changed. */
for (const [kind, side] of Object.entries(SIDES))
  describe(`A partial release of a ${kind}`, () => {
    let lock: RLock
    let redisson: Redisson
    let releases: (() => Promise<unknown>)[]

    redisAndName()
    beforeEach(async () => {
      releases = []
      const transport = tapped((sent) => {
        if (sent.name === `${kind}/release` && !sent.bySource) releases.push(sent.pass)
        return sent.pass()
      })
      redisson = await createRedisson({}, { transport })
      lock = side(redisson, name)
    })
    afterEach(async () => {
      expect(await redis.keys(`*${name}*`)).to.deep.equal([])
    })

    it(`A late partial release of a ${kind} shortens no newer lease with that count`, async () => {
      await redisson.run(async () => {
        await lock.lock(5_000)
        await (await lock.acquire({ leaseTime: 60_000 })).unlock()
        const [late] = releases
        const hold = await lock.acquire({ leaseTime: 60_000 })
        await lock.unlock()
        expect(await lock.getHoldCount()).to.equal(1)
        const before = await redis.pttl(name)
        expect(before).to.be.greaterThan(50_000)
        await late!()
        expect(await redis.pttl(name)).to.be.within(before - 5_000, 60_000)
        expect(hold.isHeld).to.equal(true)
        expect(await lock.getHoldCount()).to.equal(1)
        await hold.unlock()
      })
    })

    it(`A late partial release of a ${kind} changes no count after further releases`, async () => {
      await redisson.run(async () => {
        for (let level = 0; level < 4; level++) await lock.lock(60_000 - 10_000 * level)
        await lock.unlock()
        await lock.unlock()
        await lock.unlock()
        const before = await redis.pttl(name)
        for (const late of releases.slice(0, 2)) await late()
        expect(await lock.getHoldCount()).to.equal(1)
        expect(await redis.pttl(name)).to.be.within(before - 5_000, 60_000)
        await lock.unlock()
      })
    })

    it(`A partial release of a ${kind} copied at once counts once, whatever the leases`, async () => {
      await redisson.run(async () => {
        await lock.lock(60_000)
        await lock.lock(20_000)
        await lock.unlock()
        await releases[0]!()
        expect(await lock.getHoldCount()).to.equal(1)
        expect(await redis.pttl(name)).to.be.within(55_000, 60_000)
        await lock.unlock()
      })
    })

    it(`A partial release of a ${kind} takes one command a level, and tells the lease`, async () => {
      await redisson.run(async () => {
        for (let level = 0; level < 4; level++) await lock.lock(60_000)
        for (let level = 0; level < 4; level++) await lock.unlock()
      })
      expect(releases).to.have.length(4)
      await redisson.run(async () => {
        await lock.lock(60_000)
        await lock.lock(60_000)
        await lock.unlock()
        const answer = await releases.at(-1)!()
        const [seconds] = await redis.time()
        expect(answer).to.be.an('array').with.length(2)
        expect((answer as number[])[0]).to.equal(1)
        expect((answer as number[])[1]! - Number(seconds) * 1_000).to.be.within(50_000, 61_000)
        await lock.unlock()
      })
    })
  })
