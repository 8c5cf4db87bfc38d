import { expect } from 'chai'
import type { RReadWriteLock } from '../../src/index'
import { readTimeoutParts } from '../../src/locks/read-write-side'
import { luaSources } from '../../src/scripts/lua.generated'
import { createRedisson, rejection, timed } from '../kit/clients'
import { clientAndRedis, name, redis, redisson } from '../kit/each-test'
import {
  expectNothingLeft,
  ForeignSide,
  listeners,
  look,
  readTimeoutKey,
  shape,
} from '../kit/read-write/state'
import { waitUntil } from '../kit/servers/index'

/** Readers come, go and die without a word to each other. */
describe('Readers of a read-write lock', () => {
  let rw: RReadWriteLock
  let foreign: ForeignSide

  clientAndRedis('rw')
  beforeEach(() => {
    rw = redisson.getReadWriteLock(name)
    foreign = new ForeignSide(redis, name)
  })

  const readerFields = async () => Object.keys((await look(redis, name)).fields)
  const readTimeoutsGone = (owner: string) =>
    waitUntil(
      'the read timeout key has run out',
      async () => (await redis.exists(readTimeoutKey(name, owner, 1))) === 0,
      5_000,
      5,
    )

  it('Readers share, within a client and across clients', async () => {
    const other = await createRedisson()
    const holds = await Promise.all([
      rw.readLock().acquire(),
      rw.readLock().acquire(),
      other.getReadWriteLock(name).readLock().acquire(),
    ])
    expect((await shape(redis, name)).readers).to.deep.equal([1, 1, 1])
    expect(await rw.writeLock().tryLock()).to.equal(false)
    for (const hold of holds) await hold.unlock()
    await expectNothingLeft(redis, name)
    await rw.writeLock().lock()
    expect(await other.getReadWriteLock(name).readLock().tryLock()).to.equal(false)
    expect(await other.getReadWriteLock(name).writeLock().tryLock()).to.equal(false)
  })

  it('A read release by a caller without a hold changes nothing (C6)', async () => {
    const other = (await createRedisson()).getReadWriteLock(name)
    await rw.readLock().lock({ threadId: 1 })
    await rw.readLock().lock({ threadId: 1 })
    await foreign.read(7, 60_000)
    const before = await shape(redis, name)
    for (const attempt of [
      rw.readLock().unlock({ threadId: 2 }),
      rw.readLock().unlock(),
      other.readLock().unlock({ threadId: 1 }),
      other.readLock().unlock(),
    ]) {
      const error = await rejection(attempt)
      expect(error.name).to.equal('IllegalMonitorStateError')
      expect(error.message).to.contain(name)
    }
    expect(await shape(redis, name)).to.deep.equal(before)
    await rw.readLock().unlock({ threadId: 1 })
    await rw.readLock().unlock({ threadId: 1 })
    expect((await rejection(rw.readLock().unlock({ threadId: 1 }))).name).to.equal('IllegalMonitorStateError')
    expect((await shape(redis, name)).readers).to.deep.equal([1])
  })

  it('After a read release the key lives as long as the longest remaining read hold (C7)', async () => {
    await rw.readLock().lock({ threadId: 1, leaseTime: 10_000 })
    await rw.readLock().lock({ threadId: 2, leaseTime: 60_000 })
    await rw.readLock().lock({ threadId: 3, leaseTime: 20_000 })
    await foreign.read(7, 5_000, 30_000)
    await rw.readLock().unlock({ threadId: 2 })
    expect((await look(redis, name)).ttl, 'the second read timeout key of a stranger').to.be.within(
      29_000,
      30_000,
    )
    await rw.readLock().unlock({ threadId: 1 })
    expect((await look(redis, name)).ttl).to.be.within(28_000, 30_000)
    await redis.hdel(name, `${ForeignSide.client}:7`)
    await rw.readLock().lock({ threadId: 4, leaseTime: 5_000 })
    await rw.readLock().unlock({ threadId: 4 })
    expect((await look(redis, name)).ttl, 'shortened to what is needed').to.be.within(18_000, 20_000)
  })

  it('A short-lived reader that leaves does not shorten the key of a long-lived one (C7)', async () => {
    await foreign.read(7, 20_000)
    await rw.readLock().lock({ threadId: 1, leaseTime: 1_000 })
    await rw.readLock().unlock({ threadId: 1 })
    expect(await readerFields()).to.deep.equal([`${ForeignSide.client}:7`])
    expect((await look(redis, name)).ttl).to.be.within(18_000, 20_000)
  })

  it('A read release removes a dead reader whose key expired, and a writer enters (C8)', async () => {
    const dead = await foreign.read(7, 400)
    await rw.readLock().lock({ threadId: 1 })
    const writer = rw.writeLock().lock({ threadId: 2 })
    await waitUntil('the writer waits', async () => (await listeners(redis, name)) === 1)
    await readTimeoutsGone(dead)
    expect(await readerFields(), 'still there').to.include(dead)
    const took = await timed(async () => {
      await rw.readLock().unlock({ threadId: 1 })
      await writer
    })
    expect(took).to.be.below(2_000)
    expect((await shape(redis, name)).writers).to.deep.equal([1])
    await rw.writeLock().unlock({ threadId: 2 })
    await expectNothingLeft(redis, name)
  })

  it('A living reader is not removed together with a dead one (C8)', async () => {
    const dead = await foreign.read(7, 60)
    await rw.readLock().lock({ threadId: 1 })
    await rw.readLock().lock({ threadId: 2 })
    await readTimeoutsGone(dead)
    await rw.readLock().unlock({ threadId: 1 })
    expect(await rw.writeLock().tryLock()).to.equal(false)
    expect(await rw.readLock().isHeldByThread(2)).to.equal(true)
    await rw.readLock().unlock({ threadId: 2 })
    await expectNothingLeft(redis, name)
  })

  it('A reader is alive while any of its read timeout keys is, not only the first (C8)', async () => {
    const owner = await foreign.read(7, 40, 30_000)
    await rw.readLock().lock({ threadId: 1 })
    await readTimeoutsGone(owner)
    await rw.readLock().unlock({ threadId: 1 })
    expect(await readerFields()).to.deep.equal([owner])
    expect((await look(redis, name)).ttl).to.be.within(28_000, 30_000)
  })

  it('When all readers died, the writer enters when the longest key has expired (C8)', async () => {
    await foreign.read(7, 100, 400)
    await foreign.read(8, 300)
    const took = await timed(() => rw.writeLock().lock())
    expect(took).to.be.within(300, 2_000)
  })

  it('Read holds of one caller are released in any order: the others keep their leases', async () => {
    await redisson.run(async () => {
      const long = await rw.readLock().acquire({ leaseTime: 30_000 })
      const short = await rw.readLock().acquire({ leaseTime: 10_000 })
      await long.unlock()
      expect((await look(redis, name)).ttl).to.be.within(9_000, 30_000)
      expect(short.isHeld).to.equal(true)
      await short.unlock()
    })
    await redisson.run(async () => {
      const short = await rw.readLock().acquire({ leaseTime: 10_000 })
      const long = await rw.readLock().acquire({ leaseTime: 30_000 })
      await short.unlock()
      const { ttl, readTimeouts } = await look(redis, name)
      expect(ttl).to.be.within(29_000, 30_000)
      expect(Object.values(readTimeouts).filter((left) => left > 28_000)).to.have.length(1)
      await long.unlock()
    })
    await expectNothingLeft(redis, name)
  })

  it('Readers may be released in the very moment in which what remains runs out', async () => {
    for (const need of [0, -1, -5_000]) {
      await rw.readLock().lock({ threadId: 1, leaseTime: 5_000 })
      await rw.readLock().lock({ threadId: 1, leaseTime: 5_000 })
      const [owner = ''] = await readerFields()
      await redis.del(readTimeoutKey(name, owner, 1))
      const [before, behind] = readTimeoutParts(name)
      const guard = `${before}${behind}0`
      const source = luaSources['read-lock/release']
      const now = "local t = redis.call('time') return t[1] * 1000 + math.floor(t[2] / 1000)"
      const seen = Number(
        await redis.eval(`${now} + redis.call('pttl', KEYS[1])`, 1, readTimeoutKey(name, owner, 2)),
      )
      expect(
        await redis.eval(source, 2, name, guard, owner, 1, need, 'channel', 'publish', seen, before, behind),
      ).to.equal(2)
      await expectNothingLeft(redis, name)
      await rejection(rw.readLock().unlock({ threadId: 1 }))
      await rejection(rw.readLock().unlock({ threadId: 1 }))
    }
  })

  it('Readers leave no read timeout key behind when their levels end one by one', async () => {
    await redisson.run(async () => {
      await rw.readLock().lock(60)
      await rw.readLock().lock(60_000)
      await waitUntil(
        'the inner read timeout key is alone',
        async () => (await shape(redis, name)).readTimeouts === 1,
      )
      expect(await rw.readLock().getHoldCount()).to.equal(2)
      await rw.readLock().unlock()
      expect(await rw.readLock().isHeldByCurrentThread()).to.equal(false)
    })
    await expectNothingLeft(redis, name)
  })
})
