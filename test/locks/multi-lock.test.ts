import { expect } from 'chai'
import {
  type LockHold,
  type LockLostError,
  RedisRefusedError,
  RedissonShutdownError,
  TimeUnit,
  WrongTypeError,
} from '../../src/index'
import { anyHandleSuite } from '../contract/any-handle'
import { multiLockHandles } from '../contract/handles'
import { createRedisson, openRedis, rejection, timed, uniqueName } from '../kit/clients'
import { clientAndRedis, redis, redisson } from '../kit/each-test'
import { ForeignLock } from '../kit/foreign-lock'
import { keptBy } from '../kit/left-in'
import { expectHandledRejections, stillPending } from '../kit/observing'
import { openProxy } from '../kit/proxies'
import { freshServer, waitUntil } from '../kit/servers/index'
import { defaultServer, NO_USERS, skipInMemory } from '../kit/stand-in'

anyHandleSuite(multiLockHandles)

describe('A multi lock', () => {
  expectHandledRejections()
  let names: string[]

  clientAndRedis()
  beforeEach(() => {
    const name = uniqueName('multi')
    names = ['a', 'b', 'c'].map((each) => `${name}:${each}`)
  })

  const multi = (...order: number[]) =>
    redisson.getMultiLock(...order.map((index) => redisson.getLock(names[index]!)))
  const held = async () => names.filter((_, index) => heldFlags[index])
  let heldFlags: boolean[] = []
  const look = async () => {
    heldFlags = await Promise.all(names.map(async (name) => (await redis.exists(name)) === 1))
    return await held()
  }
  const untilFree = () => waitUntil('nothing is held', async () => (await look()).length === 0)

  describe('is held and released as one', () => {
    it('lock() and unlock(); two callers outside any scope exclude each other', async () => {
      const lock = multi(2, 0, 1)
      await lock.lock()
      expect(await look()).to.deep.equal(names)
      expect(await lock.isHeldByCurrentThread()).to.equal(true)
      expect(await lock.tryLock()).to.equal(false)
      const waiting = lock.lock(5, TimeUnit.SECONDS)
      expect(await stillPending(waiting)).to.equal(true)
      await lock.unlock()
      await waiting
      expect(await redis.pttl(names[0]!)).to.be.within(1, 5_000)
      await lock.unlock()
      expect(await look()).to.deep.equal([])
      expect(await rejection(lock.unlock())).to.include({ code: 'ILLEGAL_MONITOR_STATE' })
    })

    it('A logical thread re-enters, and releases through another object over the same members', async () => {
      await redisson.run(async () => {
        await multi(0, 1).lock()
        await multi(1, 0).lock()
        await redisson.getLock(names[0]!).lock()
        expect(await redisson.getLock(names[0]!).getHoldCount()).to.equal(3)
        await multi(0, 1).unlock()
        await redisson.getLock(names[0]!).unlock()
        expect(await look()).to.deep.equal(names.slice(0, 2))
        expect(await multi(1, 0).isHeldByCurrentThread()).to.equal(true)
        await multi(1, 0).unlock()
        expect(await look()).to.deep.equal([])
      })
      await multi(0, 1).lock({ threadId: 7 })
      expect(await multi(0, 1).isHeldByThread(7)).to.equal(true)
      expect(await multi(0, 1).isHeldByThread(8)).to.equal(false)
      await rejection(multi(0, 1).unlock({ threadId: 8 }))
      await multi(0, 1).unlock({ threadId: 7 })
      expect(await look()).to.deep.equal([])
    })

    it('withLock() re-enters the members', async () => {
      const lock = multi(0, 1)
      const value = await lock.withLock(async (hold) => {
        expect(hold.holds).to.have.length(2)
        expect(await redisson.getLock(names[1]!).tryLock()).to.equal(true)
        await redisson.getLock(names[1]!).unlock()
        expect(await multi(0, 1).tryLock({ threadId: 99 })).to.equal(false)
        return 42
      })
      expect(value).to.equal(42)
      expect(await look()).to.deep.equal([])
    })

    it('A multi lock takes members of any kind and client, and multi locks; tokens go on (J7)', async () => {
      const other = await createRedisson()
      const fenced = redisson.getFencedLock(names[0]!)
      const inner = redisson.getMultiLock(fenced, other.getLock(names[1]!))
      const sides = redisson.getReadWriteLock(names[2]!)
      const lock = other.getMultiLock(inner, sides.readLock())
      const token = async () => {
        await using hold = (await lock.tryAcquire({ leaseTime: 5_000 }))!
        expect(await sides.writeLock().tryLock()).to.equal(false)
        return (hold.holds.find(({ lockName }) => lockName === names[0]) as { token?: number }).token!
      }
      const [first, second] = [await token(), await token()]
      expect(second).to.be.greaterThan(first)
      expect(await redis.pttl(`redisson_lock_token:{${names[0]}}`)).to.equal(-1)
      await redis.del(`redisson_lock_token:{${names[0]}}`)
    })

    it('Its hold is lost with one of its members', async () => {
      const lost = await multi(0, 1).acquire()
      const reported = lost.signal
      await redisson.getLock(names[1]!).forceUnlock()
      expect(reported.reason).to.include({ code: 'LOCK_LOST' })
      expect(lost.isHeld).to.equal(false)
      await rejection(lost.unlock())
    })

    it('shutdown() aborts the signal with RedissonShutdownError', async () => {
      const { signal } = await multi(0, 1).acquire({ leaseTime: 1_000 })
      await redisson.shutdown({ timeout: 0 })
      expect(signal.reason).to.be.instanceOf(RedissonShutdownError)
      expect(await rejection(multi(0, 1).tryLock())).to.be.instanceOf(RedissonShutdownError)
    })
  })

  it('A multi lock holds nothing while it waits, for each member that another owner holds (M1)', async () => {
    for (const index of [0, 1, 2]) {
      const foreign = new ForeignLock(redis, names[index]!)
      await foreign.take(20_000)
      const waiting = multi(2, 1, 0).lock()
      // After its first look, and the round in which it found out.
      await stillPending(waiting, 300)
      for (let i = 0; i < 5; i++) expect(await look()).to.deep.equal([names[index]])
      await foreign.release()
      await waiting
      await redisson.getLock(names[0]!).forceUnlock()
      await redisson.getLock(names[1]!).forceUnlock()
      await redisson.getLock(names[2]!).forceUnlock()
    }
  })

  it('Callers of three clients with members in random orders all acquire a multi lock (M1)', async () => {
    const clients = [redisson, await createRedisson(), await createRedisson()]
    let [inside, longest] = [0, 0]
    const turns = [...clients, ...clients].map(async (client) => {
      for (let turn = 0; turn < 20; turn++) {
        const order = [...names].sort(() => Math.random() - 0.5).slice(0, 2)
        const lock = client.getMultiLock(...order.map((name) => client.getLock(name)))
        const asked = performance.now()
        await lock.withLock(async () => {
          longest = Math.max(longest, performance.now() - asked)
          inside++
          await new Promise((resolve) => setTimeout(resolve, 2))
          expect(inside).to.equal(1)
          inside--
        })
      }
    })
    await Promise.all(turns)
    expect(await look()).to.deep.equal([])
    expect(longest).to.be.lessThan(5_000)
  })

  describe('All or none of the members (M2)', () => {
    it('Aborted, a logical thread may try again at once', async () => {
      const lock = multi(0, 1)
      await redisson.run(async () => {
        for (let i = 0; i < 3; i++) {
          const abort = new AbortController()
          const waiting = lock.lock({ signal: abort.signal })
          abort.abort(new Error('enough'))
          expect((await rejection(waiting)).message).to.equal('enough')
          await lock.lock()
          await lock.unlock()
        }
      })
      await untilFree()
    })

    for (const how of ['unanswered', 'lost reply'])
      it(`Aborted with one member answered and another ${how}`, async () => {
        const proxy = await openProxy(await defaultServer())
        const slow = await createRedisson({ redis: proxy.url })
        const lock = redisson.getMultiLock(redisson.getLock(names[0]!), slow.getLock(names[1]!))
        await lock.withLock(() => {})
        const abort = new AbortController()
        proxy.stallReplies()
        const acquiring = lock.acquire({ signal: abort.signal })
        await waitUntil('both are held on the server', async () => (await look()).length === 2)
        if (how === 'lost reply') proxy.cut()
        abort.abort(new Error('enough'))
        expect((await rejection(acquiring)).message).to.equal('enough')
        // Its answer may have been on the way when the wait was aborted.
        await waitUntil('the first is released', async () => !(await look()).includes(names[0]!))
        proxy.resume()
        await untilFree()
      })

    it('A member that does not know of signals is released when it answers', async () => {
      const abort = new AbortController()
      let answer!: (hold: LockHold) => void
      const deaf = { tryAcquire: () => new Promise<LockHold>((resolve) => (answer = resolve)) }
      const acquiring = redisson
        .getMultiLock(redisson.getLock(names[0]!), deaf)
        .lock({ signal: abort.signal })
      await waitUntil('the other is held', async () => (await look()).length === 1)
      abort.abort(new Error('enough'))
      expect((await rejection(acquiring)).message).to.equal('enough')
      expect(await look()).to.deep.equal([])
      answer(await redisson.getLock(names[1]!).acquire())
      await untilFree()
    })

    it('A member of a wrong type rejects at once; the others are released', async () => {
      await redis.set(names[1]!, 'no lock')
      expect(await rejection(multi(0, 1, 2).lock())).to.be.instanceOf(WrongTypeError)
      expect(await look()).to.deep.equal([names[1]])
      await redis.del(names[1]!)
    })
  })

  it('unlock() of a multi lock with a lost first member frees the others, names it (M3)', async () => {
    const hold = await multi(0, 1, 2).acquire()
    await redis.del(names[0]!)
    const error = (await rejection(hold.unlock())) as LockLostError
    expect(error.code).to.equal('LOCK_LOST')
    expect(await look()).to.deep.equal([])
    expect(error.members!.find(({ state }) => state === 'lost')).to.include({ lockName: names[0] })
    expect(error.members!.filter(({ state }) => state !== 'lost').map(({ state }) => state)).to.deep.equal([
      'released',
      'released',
    ])
    expect(JSON.stringify(error).length).to.be.lessThan(4_096)
    const result = await rejection(
      multi(0, 1).withLock(async () => {
        await redis.del(names[1]!)
        return 'value'
      }),
    )
    expect(result).to.include({ code: 'LOCK_LOST', result: 'value' })
  })

  it('unlock() of a multi lock that was lost reports it after the release of its members (M3)', async () => {
    const proxy = await openProxy(await defaultServer())
    const slow = await createRedisson({ redis: proxy.url })
    const members = [redisson.getLock(names[0]!), slow.getLock(names[1]!)]
    const hold = await redisson.getMultiLock(...members).acquire()
    const { signal } = hold
    proxy.stall()
    await members[0]!.forceUnlock()
    expect(signal.reason).to.include({ code: 'LOCK_LOST' })
    const unlocking = rejection(hold.unlock())
    expect(await stillPending(unlocking), 'a member is not released').to.equal(true)
    proxy.resume()
    expect(await unlocking).to.include({ code: 'LOCK_LOST' })
    expect(await look()).to.deep.equal([])
  })

  it('A lease of a multi lock is converted once, for every number of rounds (M4)', async () => {
    const foreign = new ForeignLock(redis, names[1]!)
    await foreign.take(20_000)
    const waiting = multi(0, 1).lock(3, TimeUnit.SECONDS)
    await stillPending(waiting, 200)
    await foreign.release()
    await waiting
    for (const name of names.slice(0, 2)) expect(await redis.pttl(name)).to.be.within(1, 3_000)
    await Promise.all(names.map((name) => redisson.getLock(name).forceUnlock()))
  })

  it('A multi lock is not acquired if another owner takes a member over meanwhile (M5)', async () => {
    const proxy = await openProxy(await defaultServer())
    const slow = await createRedisson({ redis: proxy.url })
    const first = await createRedisson({ lockWatchdogTimeout: 900 })
    const lock = redisson.getMultiLock(first.getLock(names[0]!), slow.getLock(names[2]!))
    await lock.withLock(() => {})
    const reported = new Promise((resolve) => first.on('lockLost', resolve))
    proxy.stall()
    const acquiring = lock.tryLock()
    await waitUntil('the first is held', async () => (await redis.exists(names[0]!)) === 1)
    await redis.del(names[0]!)
    await redis.hset(names[0]!, 'somebody:1', 1)
    await redis.pexpire(names[0]!, 50_000)
    await reported
    proxy.resume()
    expect(await acquiring).to.equal(false)
    expect(await redis.pttl(names[0]!)).to.be.greaterThan(45_000)
    expect(await redis.exists(names[2]!)).to.equal(0)
    await redis.del(names[0]!)
  })

  it('A multi lock is not acquired if its last member answers after the leases (M6)', async () => {
    const proxy = await openProxy(await defaultServer())
    const slow = await createRedisson({ redis: proxy.url })
    const lock = redisson.getMultiLock(
      redisson.getLock(names[0]!),
      redisson.getLock(names[1]!),
      slow.getLock(names[2]!),
    )
    await lock.withLock(() => {})
    proxy.stallReplies()
    const acquiring = lock.tryLock(0, 600)
    await waitUntil('all are held on the server', async () => (await look()).length === 3)
    await new Promise((resolve) => setTimeout(resolve, 560))
    proxy.resume()
    expect(await acquiring).to.equal(false)
    await untilFree()
    const hold = await lock.acquire({ leaseTime: 5_000 })
    expect(hold.isHeld).to.equal(true)
    await hold.unlock()
  })

  describe('Errors of members (M7)', () => {
    it('An error that will not pass rejects at once, in lock() too', async function () {
      skipInMemory(this, NO_USERS)
      const server = await freshServer({ config: ['user alice on >secret ~* &* +@all'] })
      const url = `redis://alice:secret@${server.host}:${server.port}`
      const refused = await createRedisson({ redis: url })
      const lock = redisson.getMultiLock(redisson.getLock(names[0]!), refused.getLock(names[1]!))
      await lock.withLock(() => {})
      const admin = await openRedis(server.url)
      await admin.acl('SETUSER', 'alice', '-evalsha', '-eval')
      let error!: Error
      expect(
        await timed(async () => {
          error = await rejection(lock.lock())
        }),
      ).to.be.lessThan(10_000)
      expect(error).to.be.instanceOf(RedisRefusedError)
      // Members that had not answered are not waited for: they release by themselves what they are granted.
      await untilFree()
    })

    it('wait 0 is one try of each member, in the order of all processes', async () => {
      const tried: string[] = []
      const member = (name: string) => ({
        getName: () => name,
        tryAcquire: async () => {
          tried.push(name)
          return undefined
        },
      })
      expect(await redisson.getMultiLock(member('z'), member('a')).tryLock()).to.equal(false)
      expect(tried).to.deep.equal(['a'])
    })

    it('Of ten threads that try a multi lock once at the same time, one acquires all', async () => {
      const tries = Array.from({ length: 10 }, () => redisson.run(() => multi(0, 1, 2).tryLock(-1, 10_000)))
      expect((await Promise.all(tries)).filter((acquired) => acquired)).to.have.length(1)
      expect(await look()).to.deep.equal(names)
    })

    it('A member that cannot be reached is no member that is taken', async () => {
      const proxy = await openProxy(await defaultServer())
      const away = await createRedisson({ redis: proxy.url })
      const lock = redisson.getMultiLock(redisson.getLock(names[0]!), away.getLock(names[1]!))
      await lock.withLock(() => {})
      proxy.stall()
      expect(await rejection(lock.tryLock(300))).to.include({ code: 'REDIS_UNAVAILABLE' })
      expect(await redis.exists(names[0]!)).to.equal(0)
      proxy.resume()
      await untilFree()
    })
  })

  it('A multi lock refuses members that can never be held together (M9)', async () => {
    const lock = redisson.getLock(names[0]!)
    const twin = await createRedisson()
    const refuse = (locks: unknown[], kind: typeof Error) =>
      expect(() => redisson.getMultiLock(...(locks as never[]))).to.throw(kind)
    refuse([], RangeError)
    refuse([lock, lock], RangeError)
    refuse([lock, redisson.getLock(names[0]!)], RangeError)
    refuse([lock, twin.getLock(names[0]!)], RangeError)
    refuse([redisson.getMultiLock(lock), lock], RangeError)
    refuse(['name'], TypeError)
    refuse([[lock]], TypeError)
    refuse([undefined], TypeError)
    expect(await rejection(multi(0, 1).tryLock(1, 0))).to.be.instanceOf(RangeError)
  })

  it('Nothing is left behind in the clients', async () => {
    const before = keptBy(redisson)
    for (let i = 0; i < 20; i++) await multi(0, 1).withLock(() => {})
    await Promise.all(Array.from({ length: 10 }, () => multi(1, 2).withLock(() => {})))
    const same = () => JSON.stringify(keptBy(redisson)) === JSON.stringify(before)
    await waitUntil(
      'nothing is left',
      async () => same() || (await new Promise((r) => setTimeout(r, 50, false))),
    )
  })
})
