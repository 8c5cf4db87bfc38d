import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { LockHold, Redisson, RLock, RRedLock, TryLockOptions } from '../../src/index'
import { createRedisson, openRedis, rejection, uniqueName } from '../kit/clients'
import { name, redis, redisAndName } from '../kit/each-test'
import { internalsOf } from '../kit/internals'
import { JumpingClock } from '../kit/jumping-clock'
import { deferred } from '../kit/observing'
import { openProxy } from '../kit/proxies'
import { sharedStandalone, waitUntil } from '../kit/servers/index'
import { asleep } from '../kit/sleepers'
import { tapped } from '../kit/tapped-transport'

type RW = ReturnType<Redisson['getReadWriteLock']>
type Locks = Pick<RLock, 'lock'>

describe('A RedLock and what its caller has or cannot have of its members', () => {
  redisAndName()

  it('The caller would wait for itself at one member, another refuses: it goes on (V157)', async () => {
    const [redisson, other, redis] = [await createRedisson(), await createRedisson(), await openRedis()]
    const [refused, taken] = [`${name}2`, `${name}3`]
    const own = redisson.getReadWriteLock(`${name}1`)
    const red = redisson.getRedLock(own.writeLock(), redisson.getLock(refused), redisson.getLock(taken))
    const holds = [await other.getLock(refused).acquire(), await other.getLock(taken).acquire()] as const
    await redisson.run(async () => {
      await own.readLock().lock()
      const acquiring = red.tryLock(20_000)
      await asleep(redisson, `lock ${refused}`)
      await redis.set(refused, 'no lock')
      await redis.publish(`redisson_lock__channel:{${refused}}`, '0')
      // Its wait for the second member has ended, and it waits for the third one.
      await asleep(redisson, `lock ${taken}`)
      await redis.del(refused)
      await holds[1].unlock()
      expect(await acquiring).to.equal(true)
      await red.unlock()
      await own.readLock().unlock()
    })
  })

  it('A member granted after a refusal does not count when another one refuses', async () => {
    const [redisson, other] = [await createRedisson(), await createRedisson()]
    const [first, second] = ['1', '2'].map((end) => redisson.getReadWriteLock(`${name}${end}`)) as [RW, RW]
    const third = `${name}3`
    const red = redisson.getRedLock(first.writeLock(), second.writeLock(), redisson.getLock(third))
    const reader = other.getReadWriteLock(`${name}2`).readLock()
    await reader.lock()
    const taken = await other.getLock(third).acquire()
    await redisson.run(async () => {
      await first.readLock().lock()
      const acquiring = red.tryLock(30_000).catch((error: Error) => error)
      // All members have their turns within three seconds.
      await sleep(4_000)
      await first.readLock().unlock()
      await sleep(1_500)
      await second.readLock().lock()
      await sleep(4_000)
      await taken.unlock()
      expect(await acquiring).to.equal(true)
      await red.unlock()
      await second.readLock().unlock()
    })
    await reader.unlock()
  })

  for (const [when, isTold] of [
    ['that the client knows', true],
    ['that the call finds', false],
  ] as const)
    it(`A RedLock with a loss ${when} is not acquired before its unlock() (V164)`, async () => {
      const [redisson, other] = [await createRedisson({ lockWatchdogTimeout: 1_500 }), await createRedisson()]
      const names = ['1', '2', '3'].map((end) => uniqueName(end))
      const red = redisson.getRedLock(...names.map((name) => redisson.getLock(name)))
      const taken = await other.getLock(names[2]!).acquire()
      await redisson.run(async () => {
        await red.lock()
        await taken.unlock()
        await redis.del(names[0]!)
        if (isTold) await waitUntil('the caller knows', async () => !(await red.isHeldByCurrentThread()))
        expect((await rejection(red.lock())).code).to.equal('LOCK_LOST')
        expect((await rejection(red.tryLock())).code).to.equal('LOCK_LOST')
        expect((await rejection(red.unlock())).code).to.equal('LOCK_LOST')
        await red.lock()
        await red.unlock()
      })
      expect(await redis.exists(...names)).to.equal(0)
    })

  it('A child that lost its level acquires no other, also where its parent noticed the loss', async () => {
    const redisson = await createRedisson()
    const [first, second, own] = ['1', '2', '3'].map((end) => redisson.getLock(`${name}${end}`))
    let given: Promise<LockHold | undefined> | undefined
    const third = { tryAcquire: (options?: TryLockOptions) => given ?? own!.tryAcquire(options) }
    const red = redisson.getRedLock(first!, second!, third)
    await red.withLock(async () => {
      const [entered, asked] = [deferred(), deferred<LockHold | undefined>()]
      const child = redisson.getLock(`${name}4`).withLock(async () => {
        given = Promise.resolve(undefined)
        await red.lock()
        given = asked.promise
        const acquiring = rejection(red.lock())
        entered.resolve()
        expect((await acquiring).code).to.equal('LOCK_LOST')
        expect((await rejection(red.unlock())).code).to.equal('LOCK_LOST')
        await red.lock()
        await red.unlock()
      })
      await entered.promise
      // The parent keeps the first and the third member, the child has only the first one left.
      await second!.forceUnlock()
      expect((await rejection(red.lock())).code).to.equal('LOCK_LOST')
      given = undefined
      asked.resolve(await own!.tryAcquire())
      await child
    })
    expect(await redis.exists(`${name}1`, `${name}2`, `${name}3`)).to.equal(0)
  })

  for (const [what, within] of [
    ['a RedLock', (red: RRedLock): Locks => red],
    [
      'a multi lock with a RedLock',
      (red: RRedLock, other: RLock, maker: Redisson): Locks => maker.getMultiLock(red, other),
    ],
  ] as const)
    it(`A wait for itself at one member of ${what}, one away: rejects in 10 s (V166)`, async () => {
      const proxy = await openProxy(await sharedStandalone())
      const clock = new JumpingClock()
      const redisson = await createRedisson({}, { clock })
      const away = await createRedisson({ redis: proxy.url })
      const red = redisson.getRedLock(
        ...[redisson, away, redisson].map((client, index) =>
          client.getReadWriteLock(`${name}${index}`).writeLock(),
        ),
      )
      const lock = within(red, redisson.getLock(`${name}:other`), redisson)
      await redisson.run(async () => {
        const own = redisson.getReadWriteLock(`${name}0`).readLock()
        await own.lock()
        proxy.breakOff()
        const rejected = rejection(lock.lock(3_000))
        // Until it knows that it would wait for itself.
        await sleep(2_000)
        clock.stood = 11_000
        const since = performance.now()
        expect((await rejected).code).to.equal('LOCK_QUORUM')
        // It does not wait for as long again.
        expect(performance.now() - since).to.be.lessThan(8_000)
        await own.unlock()
      })
    })

  it('One member away, another held, the third refuses later: rejects after 10 s (V202)', async () => {
    const proxy = await openProxy(await sharedStandalone())
    const clock = new JumpingClock()
    const away = await createRedisson({ redis: proxy.url })
    const redisson = await createRedisson({}, { clock })
    const slow = await createRedisson(
      {},
      {
        transport: tapped(async (sent) => {
          await sleep(20)
          return await sent.pass()
        }),
      },
    )
    const names = ['1', '2', '3'].map((end) => uniqueName(end))
    const red = redisson.getRedLock(
      ...[away, redisson, slow].map((client, index) => client.getLock(names[index]!)),
    )
    await (await openRedis()).set(names[2]!, 'text')
    const taken = await (await createRedisson()).getLock(names[1]!).acquire()
    proxy.breakOff()
    await waitUntil('the server is known to be away', () => internalsOf(away).scripts.isServerAway)
    const rejected = rejection(red.lock())
    await sleep(2_000)
    clock.stood = 11_000
    expect((await rejected).code).to.equal('LOCK_QUORUM')
    await taken.unlock()
  })

  it('Redlock’s time begins when the first member was asked for, also if it was waited for', async () => {
    const clock = new JumpingClock()
    let isSlow = false
    const transport = tapped(async (sent) => {
      const answer = await sent.pass()
      if (isSlow) await sleep(1_000)
      return answer
    })
    const redisson = await createRedisson({}, { clock, transport })
    const taken = await (await createRedisson()).getLock(name).acquire()
    const acquiring = redisson.getRedLock(redisson.getLock(name)).acquire({ leaseTime: 600_000 })
    await asleep(redisson, `lock ${name}`)
    isSlow = true
    await taken.unlock()
    const hold = await acquiring
    isSlow = false
    expect(hold.isHeld).to.equal(true)
    // Redlock's time is the lease less a hundredth of it and 2 ms; a member lasts for longer.
    clock.jumped = 593_500
    expect(hold.holds[0]!.isHeld).to.equal(true)
    expect(hold.isHeld).to.equal(false)
    await rejection(hold.unlock())
  })

  it('A RedLock within a multi lock counts as held by others where a quorum of it answers (V165)', async () => {
    const proxy = await openProxy(await sharedStandalone())
    const [redisson, away, other] = [
      await createRedisson(),
      await createRedisson({ redis: proxy.url }),
      await createRedisson(),
    ]
    const names = ['1', '2', '3', '4'].map((end) => uniqueName(end))
    const red = redisson.getRedLock(
      away.getLock(names[0]!),
      ...names.slice(1, 3).map((name) => redisson.getLock(name)),
    )
    const multi = redisson.getMultiLock(red, redisson.getLock(names[3]!))
    const taken = await other.getLock(names[1]!).acquire()
    proxy.breakOff()
    expect(await red.tryLock(0, 3_000)).to.equal(false)
    expect(await multi.tryLock(0, 3_000)).to.equal(false)
    await taken.unlock()
    expect(await multi.tryLock(0, 3_000)).to.equal(true)
    await multi.unlock()
  })

  it('unlock() ends where a listener of the loss of a member unlocks as well (V218)', async () => {
    const clock = new JumpingClock()
    const redisson = await createRedisson({}, { clock })
    const red = redisson.getRedLock(...['1', '2', '3'].map((end) => redisson.getLock(name + end)))
    const who = { threadId: 7 }
    const codes: Promise<unknown>[] = []
    const unlock = () => rejection(red.unlock(who)).then(({ code }) => code)
    redisson.on('lockLost', () => codes.push(unlock()))
    await red.lock(who)
    await red.lock({ ...who, leaseTime: 20_000 })
    clock.jumped = 3_600_000
    codes.push(unlock())
    const told = await Promise.all(codes)
    expect(told).to.have.members(['LOCK_LOST', 'LOCK_LOST', 'ILLEGAL_MONITOR_STATE', 'ILLEGAL_MONITOR_STATE'])
    expect(redisson.stats().held).to.equal(0)
  })
})
