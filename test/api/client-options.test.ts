import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import {
  Redisson,
  type RedissonOptions,
  type ShutdownOptions,
  TimeUnit,
  type TryLockOptions,
} from '../../src/index'
import { createRedisson, rejection, uniqueName } from '../kit/clients'
import { clientAndRedis, name, redis, redisson } from '../kit/each-test'
import { sharedStandalone } from '../kit/servers/index'

describe('Redisson.create', () => {
  clientAndRedis()

  it("create() gives every client a UUID of its own, of another version than Java's", async () => {
    const [one, other] = [await createRedisson(), await createRedisson()]
    expect(one.getId()).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/)
    expect(one.getId()).to.not.equal(other.getId())
  })

  it('Redisson.create takes the watchdog lease from lockWatchdogTimeout', async () => {
    const redisson = await createRedisson({ lockWatchdogTimeout: 300_000.5 })
    const hold = await redisson.getLock(uniqueName('options')).acquire()
    expect(await redis.pttl(hold.lockName)).to.be.within(200_000, 300_001)
    await hold.unlock()
  })

  it('Redisson.create can be disposed of', async () => {
    {
      await using redisson = await Redisson.create({ redis: (await sharedStandalone()).url })
      await redisson.getLock(name).withLock(() => {})
    }
    await redisson.shutdown()
    await redisson.shutdown()
    expect((await rejection(redisson.getLock(name).lock())).code).to.equal('REDISSON_SHUTDOWN')
  })

  it('create() warns of a lockWatchdogTimeout below a second, perhaps meant in seconds', async () => {
    const warnings: (Error & { code?: string })[] = []
    const note = (warning: Error) => warnings.push(warning)
    process.on('warning', note)
    try {
      for (const lockWatchdogTimeout of [30, 999, 1_000]) await createRedisson({ lockWatchdogTimeout })
      await new Promise((resolve) => setImmediate(resolve))
    } finally {
      process.off('warning', note)
    }
    expect(warnings.map(({ code, message }) => [code, message.includes('30 ms')])).to.deep.equal([
      ['RLOCK_SHORT_WATCHDOG', true],
      ['RLOCK_SHORT_WATCHDOG', false],
    ])
  })

  describe('waitTime', () => {
    const busy: Record<string, (client: Redisson, name: string) => Promise<unknown>> = {
      'lock()': (client, name) => client.getLock(name).lock(),
      'lock(leaseTime)': (client, name) => client.getLock(name).lock(5_000),
      'acquire()': (client, name) => client.getLock(name).acquire(),
      'withLock()': (client, name) => client.getLock(name).withLock(() => {}),
      'lock() in a thread': (client, name) => client.run(() => client.getLock(name).lock()),
      'writeLock().lock()': (client, name) => client.getReadWriteLock(name).writeLock().lock(),
      'lock() of a fair lock': (client, name) => client.getFairLock(name).lock(),
      'lockAndGetToken()': (client, name) => client.getFencedLock(name).lockAndGetToken(),
      'lock() of a multi lock': (client, name) => client.getMultiLock(client.getLock(name)).lock(),
      'acquire() of a semaphore': (client, name) => client.getSemaphore(`${name}:s`).acquire(),
      'withPermits()': (client, name) => client.getSemaphore(`${name}:s`).withPermits(() => {}),
      'acquire() of a permit': (client, name) => client.getPermitExpirableSemaphore(`${name}:s`).acquire(),
      'acquirePermit()': (client, name) => client.getPermitExpirableSemaphore(`${name}:s`).acquirePermit(),
      'withPermit()': (client, name) => client.getPermitExpirableSemaphore(`${name}:s`).withPermit(() => {}),
      'await() of a latch': (client, name) => client.getCountDownLatch(`${name}:l`).await(),
    }
    for (const [call, wait] of Object.entries(busy))
      it(`${call} rejects with LockTimeoutError after the client's waitTime`, async () => {
        const holder = await createRedisson()
        const redisson = await createRedisson({ waitTime: 100 })
        const isReadWrite = call.startsWith('writeLock')
        const held = isReadWrite ? holder.getReadWriteLock(name).readLock() : holder.getLock(name)
        const hold = await held.acquire()
        await holder.getSemaphore(`${name}:s`).trySetPermits(0)
        await holder.getCountDownLatch(`${name}:l`).trySetCount(1)
        const error = await rejection(wait(redisson, name))
        expect(error).to.have.property('code', 'LOCK_TIMEOUT')
        expect(error.message).to.contain('100 ms').and.to.contain(redisson.getId())
        expect(redisson.stats()).to.include({ held: 0, waiting: 0 })
        await hold.unlock()
        await holder.getSemaphore(`${name}:s`).addPermits(1)
        await holder.getCountDownLatch(`${name}:l`).countDown()
        await wait(redisson, name)
      })

    it('A waitTime of the call counts, and tryLock() without one tries once', async () => {
      const redisson = await createRedisson({ waitTime: 50 })
      const lock = redisson.getLock(name)
      const hold = await lock.acquire()
      const late = redisson.getLock(name).withLock(() => 'inside', { waitTime: 20_000 })
      expect(await redisson.getLock(name).tryLock()).to.equal(false)
      expect(await redisson.getLock(name).tryLock(100)).to.equal(false)
      await hold.unlock()
      expect(await late).to.equal('inside')
    })

    const patient: Record<string, (client: Redisson, name: string) => Promise<unknown>> = {
      'withLock()': (client, name) => client.getLock(name).withLock(() => true, { waitTime: Infinity }),
      'tryAcquire()': (client, name) => client.getLock(name).tryAcquire({ waitTime: Infinity }),
      'tryLock(Infinity, unit)': (client, name) => client.getLock(name).tryLock(Infinity, TimeUnit.SECONDS),
      'tryLock() of a fair lock': (client, name) => client.getFairLock(name).tryLock(Infinity),
      'tryLock() of a multi lock': (client, name) =>
        client.getMultiLock(client.getLock(name)).tryLock(Infinity),
      'withPermits()': (client, name) =>
        client.getSemaphore(`${name}:s`).withPermits(() => true, { waitTime: Infinity }),
      'tryAcquire() of a permit': (client, name) =>
        client.getPermitExpirableSemaphore(`${name}:s`).tryAcquire({ permits: 1, waitTime: Infinity }),
      'withPermit()': (client, name) =>
        client.getPermitExpirableSemaphore(`${name}:s`).withPermit(() => true, { waitTime: Infinity }),
      'await() of a latch': (client, name) =>
        client.getCountDownLatch(`${name}:l`).await({ waitTime: Infinity }),
    }
    for (const [call, wait] of Object.entries(patient))
      it(`${call} with a waitTime of Infinity waits for longer than the client's`, async () => {
        const holder = await createRedisson()
        const redisson = await createRedisson({ waitTime: 20 })
        const hold = await holder.getLock(name).acquire()
        await holder.getSemaphore(`${name}:s`).trySetPermits(0)
        await holder.getCountDownLatch(`${name}:l`).trySetCount(1)
        let isOver = false
        const waiting = wait(redisson, name).finally(() => {
          isOver = true
        })
        await sleep(100)
        expect(isOver).to.equal(false)
        expect(redisson.waiters()[0]!.remaining ?? Infinity).to.be.above(1e15)
        await hold.unlock()
        await holder.getSemaphore(`${name}:s`).addPermits(1)
        await holder.getCountDownLatch(`${name}:l`).countDown()
        expect(await waiting).to.not.be.oneOf([undefined, false])
      })

    it('A client with a waitTime of Infinity waits without limit', async () => {
      const redisson = await createRedisson({ waitTime: Infinity })
      const lock = redisson.getLock(uniqueName('options'))
      const hold = await lock.acquire()
      const waiting = lock.withLock(() => 'inside')
      await sleep(50)
      await hold.unlock()
      expect(await waiting).to.equal('inside')
    })
  })
})

// That this compiles under exactOptionalPropertyTypes is half of what it shows.
describe('An option that is undefined', () => {
  it('An option that is undefined means its default, whichever option it is', async () => {
    const options: Partial<RedissonOptions> = {
      lockWatchdogTimeout: undefined,
      lockWatchdogBatchSize: undefined,
      checkLockSyncedSlaves: undefined,
      slavesSyncTimeout: undefined,
      shardedSubscriptionMode: undefined,
      nameMapper: undefined,
    }
    const redisson = await createRedisson(options)
    const lock = redisson.getLock(uniqueName())
    const trying: TryLockOptions = {
      waitTime: undefined,
      leaseTime: undefined,
      threadId: undefined,
      signal: undefined,
    }
    await lock.tryLock(trying)
    await lock.unlock({ threadId: undefined })
    const ending: ShutdownOptions = { timeout: undefined }
    await redisson.shutdown(ending)
  })
})
