import { expect } from 'chai'
import type { Redis } from 'ioredis'
import { IllegalMonitorStateError, LockLostError, type LockLostEvent, type Redisson } from '../../src/index'
import { waitUntil } from '../servers'
import { closeAll, createRedisson, openRedis, rejection, uniqueName } from '../support/clients'

describe('what a lock tells, and forceUnlock()', () => {
  let redisson: Redisson
  let redis: Redis
  let name: string

  beforeEach(async () => {
    redisson = await createRedisson()
    redis = await openRedis()
    name = uniqueName('queries')
  })
  afterEach(closeAll)

  it('of a free lock: nothing', async () => {
    const lock = redisson.getLock(name)
    expect(lock.getName()).to.equal(name)
    expect(await lock.isLocked()).to.equal(false)
    expect(await lock.isHeldByCurrentThread()).to.equal(false)
    expect(await lock.isHeldByThread(1)).to.equal(false)
    expect(await lock.getHoldCount()).to.equal(0)
    expect(await lock.remainTimeToLive()).to.equal(-2)
    expect(await lock.forceUnlock()).to.equal(false)
    expect(await redis.exists(name)).to.equal(0)
  })

  it('of one held here: levels, and the lease that is left', async () => {
    const lock = redisson.getLock(name)
    await redisson.run(async () => {
      await lock.lock(20_000)
      await lock.lock(10_000)
      expect(await lock.isLocked()).to.equal(true)
      expect(await lock.isHeldByCurrentThread()).to.equal(true)
      expect(await lock.getHoldCount()).to.equal(2)
      expect(await lock.remainTimeToLive()).to.be.within(1, 20_000)
      expect(await lock.isHeldByThread(1)).to.equal(false)
      await lock.unlock()
      await lock.unlock()
      expect(await lock.getHoldCount()).to.equal(0)
    })
    await lock.lock({ threadId: 11 })
    expect(await lock.isHeldByThread(11)).to.equal(true)
    expect(await lock.isHeldByThread(12)).to.equal(false)
    await lock.unlock({ threadId: 11 })
    expect(await lock.isHeldByThread(11)).to.equal(false)
  })

  it('of one held by a peer, also without expiry', async () => {
    const lock = redisson.getLock(name)
    await redis.hset(name, 'java:1', 2)
    expect(await lock.isLocked()).to.equal(true)
    expect(await lock.isHeldByCurrentThread()).to.equal(false)
    expect(await lock.isHeldByThread(1)).to.equal(false)
    expect(await lock.getHoldCount()).to.equal(0)
    expect(await lock.remainTimeToLive()).to.equal(-1)
    await redis.pexpire(name, 50_000)
    expect(await lock.remainTimeToLive()).to.be.within(1, 50_000)
    expect(await lock.forceUnlock()).to.equal(true)
    expect(await redis.exists(name)).to.equal(0)
  })

  it('asks the server, and takes its word over ours', async () => {
    const lock = redisson.getLock(name)
    const lost: LockLostEvent[] = []
    redisson.on('lockLost', (event) => lost.push(event))
    await redisson.run(async () => {
      await lock.lock()
      await redis.del(name)
      expect(await lock.isHeldByCurrentThread()).to.equal(false)
      expect(lost.map(({ lockName, reason }) => ({ lockName, reason }))).to.deep.equal([
        { lockName: name, reason: 'gone' },
      ])
      expect(await lock.getHoldCount()).to.equal(0)
      expect(await rejection(lock.unlock())).to.be.instanceOf(LockLostError)
    })
  })

  it('forceUnlock() by one client tells the waiters of another', async () => {
    const other = await createRedisson()
    await redisson.getLock(name).lock()
    const waiting = other.getLock(name).tryLock(10_000)
    await waitUntil('it waits', async () => {
      const [, subscribers] = await redis.pubsub('NUMSUB', `redisson_lock__channel:{${name}}`)
      return Number(subscribers) > 0
    })
    expect(await other.getLock(name).forceUnlock()).to.equal(true)
    expect(await waiting).to.equal(true)
  })

  it('atlas C5: forceUnlock() here ends the hold at once: signal, event, no renewal', async () => {
    const brief = await createRedisson({ lockWatchdogTimeout: 600 })
    const lock = brief.getLock(name)
    const lost: LockLostEvent[] = []
    brief.on('lockLost', (event) => lost.push(event))
    const hold = await lock.acquire()
    expect(hold.signal.aborted).to.equal(false)
    expect(await brief.getLock(name).forceUnlock()).to.equal(true)
    expect(hold.isHeld).to.equal(false)
    expect(hold.signal.reason).to.be.instanceOf(LockLostError)
    expect(lost).to.have.length(1)
    expect(lost[0]).to.include({ lockName: name, threadId: hold.threadId, reason: 'forced' })
    expect(lost[0]!.error).to.be.instanceOf(LockLostError)
    // A peer takes the lock without expiry: a renewal of ours would give it one.
    await redis.hset(name, 'java:1', 1)
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect(await redis.pttl(name)).to.equal(-1)
    expect(await rejection(hold.unlock())).to.be.instanceOf(LockLostError)
    expect(await redis.hgetall(name)).to.deep.equal({ 'java:1': '1' })
    await redis.del(name)
  })

  it('atlas C5: forced by another client, the holder notices at its next renewal and stops', async () => {
    const brief = await createRedisson({ lockWatchdogTimeout: 1_500 })
    const lost: LockLostEvent[] = []
    brief.on('lockLost', (event) => lost.push(event))
    const hold = await brief.getLock(name).acquire()
    const { signal } = hold
    expect(await redisson.getLock(name).forceUnlock()).to.equal(true)
    await redis.hset(name, 'java:1', 1)
    await waitUntil('the loss is noticed', () => signal.aborted)
    expect(lost.map(({ reason }) => reason)).to.deep.equal(['gone'])
    expect(hold.isHeld).to.equal(false)
    expect(await redis.pttl(name), 'the new hold was not renewed').to.equal(-1)
    await redis.del(name)
  })

  it('atlas C4: unlock() of what is not held, held by another or already released is an error', async () => {
    const lock = redisson.getLock(name)
    const bothWays = async (title: string) => {
      const errors = [await rejection(lock.unlock()), await rejection(redisson.run(() => lock.unlock()))]
      for (const error of errors) expect(error, title).to.be.instanceOf(IllegalMonitorStateError)
    }
    await bothWays('free')
    await redis.hset(name, 'java:1', 1)
    await bothWays('held by another')
    expect(await redis.hgetall(name)).to.deep.equal({ 'java:1': '1' })
    await redis.del(name)
    await lock.lock()
    await lock.unlock()
    await bothWays('released')
    expect(await redis.exists(name)).to.equal(0)
  })
})
