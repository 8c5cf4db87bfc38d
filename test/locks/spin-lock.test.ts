import { expect } from 'chai'
import { type BackOffPolicy, constantBackOff, exponentialBackOff, type Redisson } from '../../src/index'
import { anyHandleSuite } from '../contract/any-handle'
import { lockHandles } from '../contract/handles'
import { ownershipSuite } from '../contract/ownership'
import { spinLock } from '../contract/primitives'
import { waitTimeSuite } from '../contract/wait-time'
import { wakeUpSuite } from '../contract/wake-up'
import { createRedisson, timed, uniqueName } from '../kit/clients'
import { name, redis, redisAndName } from '../kit/each-test'
import { ForeignLock } from '../kit/foreign-lock'
import { SentScripts } from '../kit/sent-scripts'
import { waitUntil } from '../kit/servers/index'
import { waitingIn } from '../kit/sleepers'
import { tapped } from '../kit/tapped-transport'
import { VirtualClock } from '../kit/virtual-clock'

// Its scripts are those of the plain lock, for which the other contracts are run.
anyHandleSuite(lockHandles(spinLock))
wakeUpSuite(spinLock)
waitTimeSuite(spinLock)
ownershipSuite(spinLock)

const LEASE = 60_000

describe('A spin lock', () => {
  let scripts: SentScripts
  let redisson: Redisson
  let foreign: ForeignLock

  redisAndName('spin')
  beforeEach(async () => {
    scripts = new SentScripts()
    redisson = await createRedisson({}, { transport: scripts.transport })
    foreign = new ForeignLock(redis, name)
  })

  const queued = (id: string) => waitingIn(redisson, id).waiting

  it('A spin waiter acquires a silently released lock long before the lease ends (N3)', async () => {
    await foreign.take(LEASE)
    const waiting = redisson.getSpinLock(name).acquire()
    await waitUntil('it spins', () => scripts.count('lock/acquire') > 4)
    await foreign.vanish()
    expect(await timed(() => waiting)).to.be.lessThan(5_000)
  })

  it('A waiter of the plain lock does not spin, though one of a spin lock of its name does', async () => {
    await foreign.take(LEASE)
    const spinning = redisson.getSpinLock(name, constantBackOff({ delay: 5 })).acquire()
    const sleeping = redisson.getLock(name).acquire()
    await waitUntil('both wait', () => queued(`lock ${name}`) === 1 && queued(`spin lock ${name}`) === 1)
    await waitUntil('one spins', () => scripts.count('lock/acquire') > 20)
    const quiet = new SentScripts()
    const other = await createRedisson({}, { transport: quiet.transport })
    const alone = other.getLock(name).acquire()
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(quiet.count('lock/acquire')).to.be.at.most(2)
    await foreign.release()
    const all = [spinning, sleeping, alone].map((acquiring) => acquiring.then((hold) => hold.unlock()))
    await Promise.all(all)
  })

  it('A spin lock publishes its release, so that waiters of the plain lock wake (N3)', async () => {
    const hold = await redisson.getSpinLock(name).acquire()
    const waiting = (await createRedisson()).getLock(name).acquire()
    await waitUntil('it waits', async () => (await foreign.listeners()) === 1)
    await hold.unlock()
    expect(await timed(() => waiting)).to.be.lessThan(5_000)
  })

  it('A waiter of a spin lock is woken by the release of the plain lock in its own process', async () => {
    const hold = await redisson.getLock(name).acquire()
    const waiting = redisson.getSpinLock(name, constantBackOff({ delay: LEASE })).acquire()
    await waitUntil('it waits', () => queued(`spin lock ${name}`) === 1)
    await waitUntil('it listens', async () => (await foreign.listeners()) === 1)
    await hold.unlock()
    expect(await timed(() => waiting)).to.be.lessThan(5_000)
  })

  it('A branch that waits for a spin lock enters when its parent takes the plain lock', async () => {
    await foreign.take(LEASE)
    await redisson.run(async () => {
      const branch = redisson
        .getLock(uniqueName())
        .withLock(() => redisson.getSpinLock(name, constantBackOff({ delay: LEASE })).withLock(() => 'in'))
      await waitUntil('the branch waits', () => queued(`spin lock ${name}`) === 1)
      await foreign.vanish()
      // A try by the parent, through another object, before any message.
      await redisson.getLock(name).lock(LEASE)
      expect(await branch).to.equal('in')
      await redisson.getLock(name).unlock()
    })
  })

  it('Of many waiters of a spin lock in one process only the first asks', async () => {
    await foreign.take(LEASE)
    const lock = redisson.getSpinLock(name, constantBackOff({ delay: 50 }))
    const waiting = Array.from({ length: 50 }, () => lock.tryLock(500))
    expect(new Set(await Promise.all(waiting))).to.deep.equal(new Set([false]))
    expect(scripts.count('lock/acquire')).to.be.within(5, 20)
  })

  it('tryLock() of a spin lock ends at its wait with a last try, also with a long pause (N2)', async () => {
    const clock = new VirtualClock()
    const virtual = new SentScripts()
    const client = await createRedisson({}, { clock, transport: virtual.transport })
    const lock = client.getSpinLock(name, constantBackOff({ delay: 100_000 }))
    const tries = () => virtual.count('lock/acquire')
    const asleep = () => waitUntil('it sleeps', () => waitingIn(client, `spin lock ${name}`).isAsleep)
    await foreign.take(LEASE)
    const refused = lock.tryLock(500)
    await asleep()
    const before = tries()
    clock.advance(499)
    expect(tries()).to.equal(before)
    clock.advance(1)
    expect(await refused).to.equal(false)
    expect(tries()).to.equal(before + 1)

    const granted = lock.tryLock(500)
    await asleep()
    await foreign.vanish()
    clock.advance(500)
    expect(await granted).to.equal(true)
    expect(await lock.isHeldByCurrentThread()).to.equal(true)
    await lock.unlock()
  })

  it('What a last try of a spin lock is granted too late is released (N2)', async () => {
    const clock = new VirtualClock()
    let held: (() => void) | undefined
    let hold = false
    let granted = false
    const transport = tapped(async (sent) => {
      if (sent.name === 'lock/acquire' && hold)
        await new Promise<void>((resolve) => {
          held = resolve
        })
      const answer = await sent.pass()
      granted ||= hold && answer === null
      return answer
    })
    const client = await createRedisson({}, { clock, transport })
    const lock = client.getSpinLock(name, constantBackOff({ delay: 100_000 }))
    await foreign.take(LEASE)
    const trying = lock.tryLock(500)
    await waitUntil('it sleeps', () => waitingIn(client, `spin lock ${name}`).isAsleep)
    await foreign.vanish()
    hold = true
    clock.advance(500)
    await waitUntil('the last try is under way', () => held !== undefined)
    clock.advance(2_000)
    expect(await trying).to.equal(false)
    held!()
    await waitUntil('the server has granted it', () => granted)
    await waitUntil('the late grant is released', async () => (await redis.exists(name)) === 0)
  })

  it('exponentialBackOff() grows by multiplier to maxDelay, with a random part', () => {
    const { nextSleepPeriod } = exponentialBackOff()
    for (const [tries, least] of [
      [1, 1],
      [2, 2],
      [5, 16],
      [7, 64],
    ] as const)
      for (let round = 0; round < 50; round++)
        expect(nextSleepPeriod(tries)).to.be.within(least, least + tries)
    expect(nextSleepPeriod(8)).to.equal(128)
    expect(nextSleepPeriod(5_000)).to.equal(128)
    const own = exponentialBackOff({ initialDelay: 10, maxDelay: 50, multiplier: 3 })
    expect(own.nextSleepPeriod(2)).to.be.within(30, 32)
    expect(own.nextSleepPeriod(3)).to.equal(50)
    expect(constantBackOff().nextSleepPeriod(9)).to.equal(64)
    expect(constantBackOff({ delay: 7 }).nextSleepPeriod(9)).to.equal(7)
  })

  it('Back-offs are checked when made: numbers above 0, known options, a policy', () => {
    for (const bad of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => exponentialBackOff({ initialDelay: bad })).to.throw(RangeError, 'initialDelay')
      expect(() => exponentialBackOff({ maxDelay: bad })).to.throw(RangeError, 'maxDelay')
      expect(() => exponentialBackOff({ multiplier: bad })).to.throw(RangeError, 'multiplier')
      expect(() => constantBackOff({ delay: bad })).to.throw(RangeError, 'delay')
    }
    expect(() => exponentialBackOff({ multiplier: 0.5 })).to.throw(RangeError, '1 or more')
    expect(() => constantBackOff({ delay: '5' as never })).to.throw(TypeError, 'delay')
    expect(() => constantBackOff({ dealy: 5 } as never)).to.throw(TypeError, 'unknown option dealy')
    expect(() => exponentialBackOff(5 as never)).to.throw(TypeError)
    for (const none of [null, 5, {}, () => 5] as never[])
      expect(() => redisson.getSpinLock(name, none)).to.throw(TypeError, 'nextSleepPeriod')
  })

  it('A back-off of the user is asked with the number of the pause, and a broken one is replaced', async () => {
    await foreign.take(LEASE)
    const asked: number[] = []
    const policy: BackOffPolicy = {
      nextSleepPeriod(tries) {
        asked.push(tries)
        if (tries > 3) throw new Error('out of ideas')
        return tries === 3 ? Number.NaN : 1
      },
    }
    const waiting = redisson.getSpinLock(name, policy).acquire()
    await waitUntil('it spins all the same', () => asked.includes(5))
    await foreign.vanish()
    await (await waiting).unlock()
    // The confirmed subscription wakes it, and the count begins anew.
    expect(asked.join(' ')).to.match(/1 2 3 4 5( \d+)*$/)
  })
})
