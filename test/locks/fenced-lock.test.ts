import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { type FencedLockHold, FencingTokenError, TimeUnit, WrongTypeError } from '../../src/index'
import { anyHandleSuite } from '../contract/any-handle'
import { lockHandles } from '../contract/handles'
import { idempotencySuite } from '../contract/idempotency'
import { leasesSuite } from '../contract/leases'
import { ownershipSuite } from '../contract/ownership'
import { fencedLock } from '../contract/primitives'
import { wakeUpSuite } from '../contract/wake-up'
import { createRedisson, rejection, timed, uniqueName } from '../kit/clients'
import { clientAndRedis, name, redis, redisson } from '../kit/each-test'
import { waitUntil } from '../kit/servers/index'
import { latch, tapped } from '../kit/tapped-transport'
import { VirtualClock } from '../kit/virtual-clock'

// It waits, is renewed and is released as the plain lock is, by the same scripts; these contracts meet its own.
anyHandleSuite(lockHandles(fencedLock))
wakeUpSuite(fencedLock)
ownershipSuite(fencedLock)
leasesSuite(fencedLock)
idempotencySuite(fencedLock)

describe('A fenced lock', () => {
  let counter: string
  let errors: Error[]

  clientAndRedis('fenced')
  beforeEach(() => {
    counter = `redisson_lock_token:{${name}}`
    errors = []
    redisson.on('error', (error) => errors.push(error))
  })

  it('A plain hold draws a token of its own, and a plain re-entry leaves the token (F1)', async () => {
    const earlier = await (await createRedisson()).getFencedLock(name).withLock(({ token }) => token)
    await redisson.run(async () => {
      await redisson.getLock(name).lock()
      // The server has a level that the client does not know: a re-entry was given up after it was sent.
      const [owner = ''] = await redis.hkeys(name)
      await redis.hincrby(name, owner, 1)
      const hold = await redisson.getFencedLock(name).acquire()
      expect(hold.token).to.be.greaterThan(earlier)
      await redisson.getLock(name).withLock(() => {})
      expect(hold.token).to.be.a('number').and.greaterThan(earlier)
      await hold.unlock()
      await redisson.getLock(name).unlock()
    })
  })

  it('A fenced lock numbers its grants from 1, each greater than all before', async () => {
    const lock = redisson.getFencedLock(name)
    expect(await lock.getToken()).to.equal(0)
    expect(await lock.lockAndGetToken()).to.equal(1)
    expect(await lock.tryLockAndGetToken()).to.equal(undefined)
    await lock.unlock()
    await lock.lock()
    await lock.unlock()
    expect(await lock.tryLock()).to.equal(true)
    await lock.unlock()
    const hold = await lock.acquire()
    expect(hold.token).to.equal(4)
    await hold.unlock()
    expect(await lock.withLock(({ token }) => token)).to.equal(5)
    expect((await lock.tryAcquire())!.token).to.equal(6)
    expect(await lock.forceUnlock()).to.equal(true)
    expect(await lock.tryLockAndGetToken(100, 20, TimeUnit.SECONDS)).to.equal(7)
    expect(await redis.pttl(name)).to.be.within(15_000, 20_000)
    expect(await lock.getToken()).to.equal(7)
    expect(await redis.get(counter)).to.equal('7')
    expect(await redis.pttl(counter)).to.equal(-1)
    await lock.unlock()
    expect(await lock.lockAndGetToken(10, TimeUnit.SECONDS)).to.equal(8)
    expect(await redis.pttl(name), 'the lease is kept').to.be.within(5_000, 10_000)
    await lock.unlock()
    expect(errors).to.deep.equal([])
  })

  it('tryLockAndGetToken() is one try without a wait, and waits where it has one', async () => {
    const lock = redisson.getFencedLock(name)
    const other = (await createRedisson()).getFencedLock(name)
    const hold = await other.acquire()
    expect(await timed(() => lock.tryLockAndGetToken())).to.be.lessThan(2_000)
    expect(await lock.tryLockAndGetToken(50)).to.equal(undefined)
    const waiting = lock.tryLockAndGetToken({ waitTime: 20_000 })
    await sleep(50)
    await hold.unlock()
    expect(await waiting).to.equal(2)
  })

  it('A holder that was overtaken has a lower token than its successor (F1)', async () => {
    const a = await redisson.getFencedLock(name).acquire({ leaseTime: 300 })
    await waitUntil('its lease ended', async () => (await redis.exists(name)) === 0, 5_000, 5)
    const b = await (await createRedisson()).getFencedLock(name).acquire()
    expect(a.token).to.equal(1)
    expect(b.token).to.equal(2)
    expect(await redisson.getFencedLock(name).getToken()).to.equal(2)
    await b.unlock()
  })

  it('A re-entry of a fenced lock draws a token, and every level has the newest (F2)', async () => {
    const resource = new Map<string, { token: number; owner: number }>()
    const write = ({ token, threadId }: FencedLockHold) => {
      const last = resource.get(name)
      if (last && (token < last.token || (token === last.token && threadId !== last.owner))) return false
      resource.set(name, { token, owner: threadId })
      return true
    }
    const lock = redisson.getFencedLock(name)
    await lock.withLock(async (outer) => {
      expect(outer.token).to.equal(1)
      expect(write(outer)).to.equal(true)
      await lock.withLock((inner) => {
        expect(inner.token).to.equal(2)
        expect(write(inner)).to.equal(true)
      })
      expect(outer.token).to.equal(2)
      expect(write(outer), 'the outer level goes on after the inner one').to.equal(true)
      expect(await lock.lockAndGetToken()).to.equal(3)
      expect(outer.token).to.equal(3)
      await lock.unlock()
    })
    expect(errors).to.deep.equal([])
  })

  it('A late answer to a given-up acquisition raises no error event (V195)', async () => {
    const [granted, later] = [latch(), latch()]
    let acquisitions = 0
    const transport = tapped(async (script) => {
      const answer = await script.pass()
      if (script.name === 'fenced-lock/acquire' && ++acquisitions === 1) {
        granted.open()
        await later.opened
      }
      return answer
    })
    const client = await createRedisson({}, { transport })
    client.on('error', (error) => errors.push(error))
    const lock = client.getFencedLock(name)
    const given = new AbortController()
    const first = rejection(lock.acquire({ leaseTime: 200, signal: given.signal }))
    await granted.opened
    given.abort()
    await first
    const hold = await lock.acquire()
    expect(hold.token).to.equal(2)
    later.open()
    await hold.unlock()
    await lock.withLock(({ token }) => expect(token).to.equal(3))
    expect(errors).to.deep.equal([])
  })

  it('A lost counter goes on above the last token seen, with one error event', async () => {
    const lock = redisson.getFencedLock(name)
    for (let grant = 1; grant <= 3; grant++) await lock.withLock(() => {})
    await redis.del(counter)
    const hold = await lock.acquire()
    expect(hold.isHeld).to.equal(true)
    expect(hold.token).to.equal(4)
    expect(await redis.get(counter)).to.equal('4')
    expect(errors).to.have.length(1)
    expect(errors[0]).to.be.instanceOf(FencingTokenError)
    expect(errors[0]).to.include({ code: 'FENCING_TOKEN', lockName: name, token: 4, lastToken: 3 })
    expect(errors[0]!.message).to.contain(counter).and.to.contain(redisson.getId())
    await hold.unlock()
    await lock.withLock(() => {})
    expect(errors).to.have.length(1)
    // Set back by one: the same token for another holder.
    await redis.decr(counter)
    await lock.withLock(({ token }) => expect(token).to.equal(6))
    expect(errors).to.have.length(2)
  })

  it('A re-entry sets a counter forward that was set back, and raises the event', async () => {
    const lock = redisson.getFencedLock(name)
    await redis.set(counter, 40)
    await redisson.run(async () => {
      await lock.lock()
      await redis.set(counter, 5)
      expect(await lock.lockAndGetToken()).to.equal(42)
      expect(errors.map((error) => (error as FencingTokenError).lastToken)).to.deep.equal([41])
    })
  })

  it('A fenced lock that is tried again after a late grant raises no error event (F3)', async () => {
    const clock = new VirtualClock()
    let isLate = true
    const transport = tapped(async (sent) => {
      const answer = await sent.pass()
      if (sent.name === 'fenced-lock/acquire' && isLate) {
        isLate = false
        clock.advance(9_500)
      }
      return answer
    })
    const late = await createRedisson({}, { clock, transport })
    late.on('error', (error) => errors.push(error))
    const hold = await late.getFencedLock(name).acquire({ leaseTime: 10_000 })
    expect(hold.token).to.equal(2)
    expect(await redis.get(counter)).to.equal('2')
    expect(errors).to.deep.equal([])
    await hold.unlock()
  })

  it('A client remembers the last tokens of a bounded number of names (F3, guarantee 7)', async () => {
    const first = redisson.getFencedLock(name)
    await first.withLock(() => {})
    const many = Array.from({ length: 1_001 }, () => redisson.getFencedLock(uniqueName('many')))
    for (let start = 0; start < many.length; start += 100)
      await Promise.all(many.slice(start, start + 100).map((each) => each.withLock(() => {})))
    await redis.del(counter)
    await first.withLock(() => {})
    expect(errors, 'forgotten').to.deep.equal([])
  })

  it('A TTL on the counter of a fenced lock is removed by the next grant (F3, M5)', async () => {
    const lock = redisson.getFencedLock(name)
    await lock.withLock(() => {})
    await redis.pexpire(counter, 60_000)
    await redisson.run(async () => {
      await lock.lock()
      expect(await redis.pttl(counter)).to.equal(-1)
      await redis.pexpire(counter, 60_000)
      await lock.lock()
      expect(await redis.pttl(counter)).to.equal(-1)
    })
  })

  it('A counter that is used up or holds no number is an error, and nothing is acquired', async () => {
    const lock = redisson.getFencedLock(name)
    await redis.set(counter, Number.MAX_SAFE_INTEGER - 1)
    const hold = await lock.acquire({ threadId: 1 })
    expect(hold.token).to.equal(Number.MAX_SAFE_INTEGER)
    expect(await rejection(lock.lock({ threadId: 1 }))).to.be.instanceOf(RangeError)
    expect(await redis.hvals(name)).to.deep.equal(['1'])
    await hold.unlock()
    for (const call of [
      () => lock.lock(),
      () => lock.tryLock(),
      () => lock.acquire(),
      () => lock.tryAcquire(),
      () => lock.withLock(() => expect.fail('inside')),
      () => lock.lockAndGetToken(),
      () => lock.tryLockAndGetToken(1_000),
    ]) {
      const error = await rejection(call())
      expect(error).to.be.instanceOf(RangeError)
      expect(error.message).to.contain(name).and.to.contain(counter)
    }
    expect(await redis.exists(name)).to.equal(0)
    expect(await redis.get(counter)).to.equal(String(Number.MAX_SAFE_INTEGER))
    for (const value of ['12x', '-4', '1.5', '']) {
      await redis.set(counter, value)
      expect(await rejection(lock.lock()), value).to.be.instanceOf(WrongTypeError)
    }
    await redis.del(counter)
    await redis.lpush(counter, 1)
    expect(await rejection(lock.lock())).to.be.instanceOf(WrongTypeError)
    expect(await redis.exists(name)).to.equal(0)
  })

  it('A fenced lock held by a hash without expiry is held, and draws no token for another (F6)', async () => {
    const lock = redisson.getFencedLock(name)
    const hold = await lock.acquire()
    await redis.persist(name)
    const other = (await createRedisson()).getFencedLock(name)
    expect(await other.tryLockAndGetToken()).to.equal(undefined)
    expect(await other.tryLockAndGetToken(100)).to.equal(undefined)
    expect(await other.tryAcquire()).to.equal(undefined)
    expect(await redis.get(counter)).to.equal('1')
    await hold.unlock()
    expect(await other.tryLockAndGetToken()).to.equal(2)
  })

  it('A holder by getLock draws no token of the fenced lock, and both exclude', async () => {
    const plain = await redisson.getLock(name).acquire()
    expect(await redisson.getFencedLock(name).tryLockAndGetToken()).to.equal(undefined)
    expect(await redis.exists(counter)).to.equal(0)
    await plain.unlock()
    await redisson.getFencedLock(name).lockAndGetToken()
    expect(await redisson.getLock(name).tryLock()).to.equal(false)
  })

  it('The token counter is in the slot of its lock, and has a key of its own (F5)', async () => {
    await redisson.getFencedLock(name).withLock(() => {})
    expect(await redis.keys(`*${name}*`)).to.deep.equal([counter])
    const braces = redisson.getFencedLock(`{${name}}:a`)
    await braces.withLock(() => {})
    expect(await redis.get(`redisson_lock_token:{${name}}:a`)).to.equal('1')
  })
})
