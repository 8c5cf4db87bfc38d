import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { type Redisson, RedissonShutdownError } from '../../src/index'
import { createRedisson, openRedis, rejection, timed, uniqueName } from '../kit/clients'
import { clientAndRedis, name, redis, redisson } from '../kit/each-test'
import { ForeignLock } from '../kit/foreign-lock'
import { keptBy } from '../kit/left-in'
import { eventsOf } from '../kit/observing'
import { Program } from '../kit/program'
import { openProxy } from '../kit/proxies'
import { sharedStandalone, waitUntil } from '../kit/servers/index'
import { latch, ScriptCounter, tapped } from '../kit/tapped-transport'

describe('shutdown()', () => {
  clientAndRedis()

  it('shutdown() rejects waiters and a call that comes meanwhile (guarantee 9)', async () => {
    const foreign = new ForeignLock(redis, uniqueName())
    await foreign.take(60_000)
    const lock = redisson.getLock(foreign.name)
    const waiting = Array.from({ length: 20 }, () => rejection(lock.lock()))
    await waitUntil('they wait', async () => (await foreign.listeners()) === 1)
    const down = redisson.shutdown()
    expect(await rejection(lock.lock())).to.be.instanceOf(RedissonShutdownError)
    for (const error of await Promise.all(waiting)) expect(error).to.be.instanceOf(RedissonShutdownError)
    await down
    await foreign.release()
    await sleep(200)
    expect(await redis.exists(foreign.name)).to.equal(0)
  })

  it('shutdown() by a subscriber of rlock:acquire rejects that acquisition before it is sent', async () => {
    const sent = new ScriptCounter()
    const client = await createRedisson({}, { transport: sent.transport })
    const subscriber = () => void client.shutdown()
    subscribe('tracing:rlock:acquire:start', subscriber)
    try {
      expect(await rejection(client.getLock(name).lock())).to.be.instanceOf(RedissonShutdownError)
    } finally {
      unsubscribe('tracing:rlock:acquire:start', subscriber)
    }
    expect(sent.of('lock/acquire')).to.equal(0)
  })

  it('shutdown() waits for calls that come meanwhile, and says which may be applied (V141)', async () => {
    const keeper = await createRedisson()
    const semaphore = keeper.getSemaphore(uniqueName())
    await semaphore.trySetPermits(0)
    for (let round = 1; round <= 20; round++) {
      const redisson = await createRedisson()
      const down = redisson.shutdown({ timeout: 0 })
      await sleep(round / 10)
      const error = await redisson
        .getSemaphore(semaphore.getName())
        .release()
        .catch((reason) => reason)
      await down
      if (error) expect(error.message).not.to.contain('may have been applied')
      if (error) await semaphore.release()
      expect(await semaphore.availablePermits()).to.equal(round)
    }
    const proxy = await openProxy(await sharedStandalone())
    const redisson = await createRedisson({ redis: proxy.url })
    const late = redisson.getSemaphore(semaphore.getName())
    await late.availablePermits()
    proxy.stallReplies()
    const rejected = rejection(late.release())
    await redisson.shutdown({ timeout: 0 })
    const { code, message } = await rejected
    expect(code).to.equal('REDISSON_SHUTDOWN')
    expect(message).to.contain('may have been applied')
    expect(await semaphore.availablePermits()).to.equal(21)
  })

  it('shutdown() lets unlock() work, and ends with the last one (guarantee 9)', async () => {
    const hold = await redisson.getLock(uniqueName()).acquire()
    const { signal } = hold
    const down = redisson.shutdown({ timeout: 20_000 })
    await sleep(200)
    expect(signal.aborted).to.equal(false)
    expect(hold.isHeld).to.equal(true)
    await hold.unlock()
    expect(await timed(() => down)).to.be.lessThan(10_000)
    expect(await redis.exists(hold.lockName)).to.equal(0)
    expect(signal.aborted).to.equal(false)
  })

  for (const [kind, ofKind] of Object.entries({
    'a semaphore': (redisson: Redisson, name: string) => {
      const semaphore = redisson.getSemaphore(name)
      return {
        semaphore,
        take: (): Promise<void> => semaphore.acquire(),
        giveBack: () => semaphore.release(),
      }
    },
    'a semaphore of expirable permits': (redisson: Redisson, name: string) => {
      const semaphore = redisson.getPermitExpirableSemaphore(name)
      const ids: string[] = []
      const take = async () => {
        ids.push(await semaphore.acquire())
      }
      return { semaphore, take, giveBack: () => semaphore.release(ids.shift()!) }
    },
  }))
    it(`shutdown() lets release() of permits of ${kind} work, and ends with the last`, async () => {
      const { semaphore, take, giveBack } = ofKind(redisson, uniqueName())
      await semaphore.trySetPermits(3)
      await take()
      await take()
      const down = redisson.shutdown({ timeout: 20_000 })
      await giveBack()
      await sleep(100)
      await giveBack()
      expect(await timed(() => down)).to.be.lessThan(10_000)
      expect(await redis.get(semaphore.getName())).to.equal('3')
    })

  it('shutdown() waits for permits that are out, however many were released', async () => {
    const semaphore = redisson.getSemaphore(uniqueName())
    await semaphore.release(5)
    await semaphore.tryAcquire(2)
    await semaphore.release(2)
    await redisson.getSemaphore(semaphore.getName()).acquire()
    expect(await timed(() => redisson.shutdown({ timeout: 300 }))).to.be.within(295, 5_000)
    expect((await rejection(semaphore.release())).code).to.equal('REDISSON_SHUTDOWN')
  })

  it('shutdown() renews holds while it waits for the last unlock() (guarantee 9)', async () => {
    const redisson = await createRedisson({ lockWatchdogTimeout: 600 })
    const hold = await redisson.getLock(uniqueName()).acquire()
    const down = redisson.shutdown({ timeout: 20_000 })
    await sleep(1_200)
    expect(hold.isHeld).to.equal(true)
    await hold.unlock()
    await down
  })

  it('shutdown() aborts the signal of a remaining hold, and its key stays for its lease', async () => {
    const lost = eventsOf(redisson, 'lockLost')
    const hold = await redisson.getLock(uniqueName()).acquire({ leaseTime: 60_000 })
    const { signal } = hold
    const down = redisson.shutdown({ timeout: 200 })
    // A later call does nothing more, and ends with this one.
    await Promise.all([redisson.shutdown(), down])
    expect(signal.reason).to.be.instanceOf(RedissonShutdownError)
    expect(await redis.pttl(hold.lockName)).to.be.greaterThan(50_000)
    expect((await rejection(hold.unlock())).code).to.equal('REDISSON_SHUTDOWN')
    expect(lost).to.deep.equal([])
    await redisson.shutdown()
  })

  it('shutdown() settles acquisitions in flight, so that they hold nothing (guarantee 9)', async () => {
    const sent = latch()
    const transport = tapped((script) => {
      const answer = script.pass()
      if (script.name !== 'lock/acquire') return answer
      answer.then(() => sent.open())
      return answer.then((value) => sleep(300, value))
    })
    const redisson = await createRedisson({}, { transport })
    const lock = redisson.getLock(uniqueName())
    const acquiring = rejection(lock.lock(60_000))
    await sent.opened
    await redisson.shutdown()
    expect(await acquiring).to.be.instanceOf(RedissonShutdownError)
    expect(await redis.exists(lock.getName())).to.equal(0)
  })

  it('shutdown() closes the connections it opened and none of the caller (guarantee 9)', async () => {
    const own = await openRedis()
    const id = `rlock-shutdown-${process.pid}`
    const named = async () =>
      ((await redis.client('LIST')) as string).split('\n').filter((line) => line.includes(id))
    const url = new URL((await sharedStandalone()).url)
    const redisson = await createRedisson({
      redis: { host: url.hostname, port: Number(url.port), connectionName: id },
    })
    expect(await named()).to.have.length(2)
    await redisson.shutdown()
    await waitUntil('they are closed', async () => (await named()).length === 0)
    const borrowing = await createRedisson({ redis: own })
    await borrowing.shutdown()
    expect(await own.ping()).to.equal('PONG')
  })

  it('shutdown() lets the process end, though it held a lock (guarantee 9)', async () => {
    const port = String(redis.options.port)
    const program = new Program('hold.ts', port, name, '30000')
    expect(await program.line()).to.equal('held')
    program.say('shut down')
    expect(await program.line()).to.equal('shut down')
    expect(await Promise.race([program.exit, sleep(10_000, 'still running')])).to.equal(0)
    expect(await redis.exists(name)).to.equal(1)
  })

  it('shutdown() ends the watchdog, whatever an inner unlock() in flight does (V131)', async () => {
    const proxy = await openProxy(await sharedStandalone())
    const redisson = await createRedisson({ redis: proxy.url, lockWatchdogTimeout: 1_500 })
    const events: string[] = []
    await redisson.run(async () => {
      const lock = redisson.getLock(uniqueName())
      await lock.lock()
      await lock.lock()
      proxy.stall()
      const answered = lock.unlock().catch(() => {})
      await redisson.shutdown({ timeout: 0 })
      for (const event of ['lockLost', 'renewalFailed'] as const) redisson.on(event, () => events.push(event))
      await answered
    })
    expect(keptBy(redisson)).to.include({ watched: 0, timers: 0 })
    await sleep(700)
    expect(events).to.deep.equal([])
  })

  it('The watchdog alone does not keep the process alive (guarantee 6)', async () => {
    const program = new Program('unref.ts', String(redis.options.port), name)
    expect(await program.line()).to.equal('held')
    expect(await Promise.race([program.exit, sleep(10_000, 'still running')])).to.equal(0)
    expect(await redis.exists(name)).to.equal(1)
  })
})
