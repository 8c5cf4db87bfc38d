import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { ClientInternals } from '../../src/client/client-internals'
import { PermitNotHeldError, type RedissonOptions, TimeUnit } from '../../src/index'
import { type Clock, systemClock } from '../../src/util/clock'
import { anyHandleSuite } from '../contract/any-handle'
import { permitHandles } from '../contract/handles'
import { createRedisson, rejection, timed, uniqueName } from '../kit/clients'
import { redis, redisAndName } from '../kit/each-test'
import { expectHandledRejections, stillPending } from '../kit/observing'
import { Program } from '../kit/program'
import { SentScripts } from '../kit/sent-scripts'
import { sharedCluster } from '../kit/servers/index'
import { asleep } from '../kit/sleepers'
import { NO_CLUSTER, skipInMemory } from '../kit/stand-in'
import { tapped } from '../kit/tapped-transport'

/** As Redisson writes a lease without end. */
const NEVER = 922337203685477

anyHandleSuite(permitHandles)

describe('A semaphore whose permits expire', () => {
  expectHandledRejections()

  redisAndName()

  async function newSemaphore(
    permits: number,
    options: Partial<RedissonOptions> = {},
    internals: ClientInternals = {},
  ) {
    const redisson = await createRedisson(options, internals)
    const name = uniqueName('permits')
    const semaphore = redisson.getPermitExpirableSemaphore(name)
    if (permits >= 0) await semaphore.trySetPermits(permits)
    const timeouts = `{${name}}:timeout`
    return { redisson, name, semaphore, timeouts, sleeps: (n = 1) => asleep(redisson, `permit ${name}`, n) }
  }

  const add = (timeouts: string, score: number) => redis.zadd(timeouts, String(score), randomBytes(16))

  it('Permits are taken singly and severally, each with an id of 16 bytes in Redis (P2)', async () => {
    const { semaphore, name, timeouts } = await newSemaphore(300)
    const one = await semaphore.acquire()
    expect(one).to.match(/^[0-9a-f]{32}$/)
    const leased = await semaphore.acquire(1, TimeUnit.MINUTES)
    const many = (await semaphore.acquire({ permits: 250 }))!
    const ids = [one, leased, ...many]
    const inRedis = await redis.zrangeBuffer(timeouts, '0', '-1')
    expect(inRedis.map((id) => id.toString('hex')).sort()).to.deep.equal([...ids].sort())
    // With so many random ones every byte comes up, those of CR, LF, NUL and beyond ASCII as well.
    expect(new Set(inRedis.flatMap((id) => [...id])).size).to.be.greaterThan(250)
    expect(await redis.zscore(timeouts, Buffer.from(one, 'hex'))).to.equal(String(NEVER))
    expect([
      await semaphore.availablePermits(),
      await semaphore.acquiredPermits(),
      await semaphore.getPermits(),
    ]).to.deep.equal([48, 252, 300])
    await semaphore.release(one)
    expect(await semaphore.tryRelease(leased)).to.equal(true)
    expect(await semaphore.tryRelease(many.slice(0, 100))).to.equal(100)
    await semaphore.release(many.slice(100))
    expect(await redis.exists(timeouts)).to.equal(0)
    expect(await redis.get(name)).to.equal('300')
    expect(semaphore.getName()).to.equal(name)
  })

  it('Ids with any bytes are found again (P2)', async () => {
    const { semaphore, name, timeouts } = await newSemaphore(0)
    for (const id of ['00000d0a000d0a00ff80c3280a0d0000', 'ffffffffffffffffffffffffffffffff']) {
      await redis.zadd(timeouts, String(NEVER), Buffer.from(id, 'hex'))
      expect(await semaphore.getLeaseTime(id)).to.equal(-1)
      expect(await semaphore.tryRelease(id.toUpperCase())).to.equal(true)
    }
    expect(await redis.get(name)).to.equal('2')
  })

  it('When no permit is free, one try answers undefined, and a wait ends in time', async () => {
    const { semaphore } = await newSemaphore(1)
    const id = await semaphore.tryAcquire()
    expect(id).to.be.a('string')
    expect(await semaphore.tryAcquire()).to.equal(undefined)
    expect(await semaphore.tryAcquire(20, TimeUnit.MILLISECONDS)).to.equal(undefined)
    expect(await semaphore.tryAcquire(20, 1_000, TimeUnit.MILLISECONDS)).to.equal(undefined)
    expect(await semaphore.tryAcquire({ permits: 1 })).to.equal(undefined)
    expect(await semaphore.acquire({ permits: 1, waitTime: 20 })).to.equal(undefined)
    expect(await semaphore.tryAcquirePermit({ waitTime: 20 })).to.equal(undefined)
    expect(await rejection(semaphore.withPermit(() => {}, { waitTime: 20 }))).to.have.property(
      'code',
      'LOCK_TIMEOUT',
    )
    const waiting = semaphore.tryAcquire(5, -1, TimeUnit.SECONDS)
    await semaphore.release(id!)
    expect(await waiting).to.be.a('string')
  })

  it('What could be a time or a number of permits is refused, and so are ids that are none', async () => {
    const { semaphore } = await newSemaphore(1)
    for (const call of [
      () => semaphore.acquire(5 as never),
      () => semaphore.acquire(5, 'SECONDS' as never),
      () => semaphore.tryAcquire(5 as never),
      () => semaphore.tryAcquire(5, 5 as never),
      () => semaphore.tryAcquire(undefined as never, { leaseTime: 5 } as never),
      () => semaphore.tryAcquirePermit({ waitTime: null } as never),
      () => semaphore.acquire({ permits: 1, threadId: 1 } as never),
      () => semaphore.acquire({} as never),
      () => semaphore.release('no id'),
      () => semaphore.release(5 as never),
      () => semaphore.release(['00']),
      () => semaphore.acquirePermit({ permits: 1 } as never),
    ])
      expect(await rejection(call() as Promise<unknown>)).to.be.instanceOf(TypeError)
    for (const call of [
      () => semaphore.acquire(0, TimeUnit.SECONDS),
      () => semaphore.acquire({ permits: 0 }),
      () => semaphore.acquire({ permits: 1_001 }),
      () => semaphore.acquire({ permits: 1, leaseTime: 0 }),
      () => semaphore.release([]),
      () => semaphore.setPermits(-1),
    ])
      expect(await rejection(call() as Promise<unknown>)).to.be.instanceOf(RangeError)
    expect(await semaphore.availablePermits()).to.equal(1)
  })

  it('Leases run by the clock of the server, whatever that of the process says (P1)', async () => {
    for (const skew of [-600_000, 600_000]) {
      const clock: Clock = {
        ...systemClock,
        now: () => {
          const { monotonic, wall } = systemClock.now()
          return { monotonic, wall: wall + skew }
        },
        elapsedSince: (moment) => systemClock.elapsedSince({ ...moment, wall: moment.wall - skew }),
      }
      const { semaphore, name, timeouts } = await newSemaphore(1, {}, { clock })
      const other = (await createRedisson()).getPermitExpirableSemaphore(name)
      const id = (await other.acquire(30, TimeUnit.SECONDS))!
      expect(await semaphore.availablePermits(), 'not taken back early').to.equal(0)
      await other.release(id)
      const ours = await semaphore.acquire(30, TimeUnit.SECONDS)
      const [seconds, micros] = (await redis.time()) as unknown as [string, string]
      const now = Number(seconds) * 1_000 + Number(micros) / 1_000
      const ends = Number(await redis.zscore(timeouts, Buffer.from(ours, 'hex')))
      expect(ends - now).to.be.within(25_000, 30_000)
      expect(await other.getLeaseTime(ours)).to.be.within(25_000, 30_000)
    }
  })

  it('Twenty thousand expired permits are released by one call (P4)', async () => {
    const { semaphore, name, timeouts } = await newSemaphore(0)
    for (let batch = 0; batch < 10; batch++) {
      const members = Array.from({ length: 2_000 }, () => [1, randomBytes(16)]).flat()
      await redis.zadd(timeouts, ...(members as never[]))
    }
    await add(timeouts, NEVER)
    expect(await semaphore.tryAcquire({ permits: 3 })).to.have.length(3)
    expect(await redis.get(name)).to.equal('19997')
    expect(await redis.zcard(timeouts)).to.equal(4)
    expect(await semaphore.getPermits()).to.equal(20_001)
  })

  it('A waiter enters when the lease before it ends, and at once when that is shortened (P5)', async () => {
    const { semaphore, sleeps } = await newSemaphore(1)
    await semaphore.acquire(300, TimeUnit.MILLISECONDS)
    expect(await timed(() => semaphore.acquire(60, TimeUnit.SECONDS))).to.be.within(150, 2_000)
    const { redisson } = await newSemaphore(-1)
    const other = redisson.getPermitExpirableSemaphore(semaphore.getName())
    const waiting = semaphore.acquire()
    await sleeps()
    const [held] = await redis.zrangeBuffer(`{${semaphore.getName()}}:timeout`, '0', '-1')
    const id = held!.toString('hex')
    expect(await other.updateLeaseTime(id, 10, TimeUnit.MINUTES)).to.equal(true)
    expect(await stillPending(waiting, 50)).to.equal(true)
    expect(
      await timed(async () => expect(await other.updateLeaseTime(id, 100)).to.equal(true) && waiting),
    ).to.be.below(2_000)
    expect(await other.updateLeaseTime(id, 100)).to.equal(false)
  })

  it('What is released after its lease ran out is a loss, and its capacity comes back once (P6)', async () => {
    const { semaphore, name } = await newSemaphore(3)
    const ids = (await semaphore.acquire({ permits: 1, leaseTime: 40 }))!
    const kept = (await semaphore.acquire({ permits: 2 }))!
    await sleep(60)
    const error = (await rejection(semaphore.release([...ids, ...kept]))) as PermitNotHeldError
    expect(error).to.be.instanceOf(PermitNotHeldError)
    expect(error.code).to.equal('PERMIT_NOT_HELD')
    expect(error.permitIds).to.deep.equal(ids)
    expect(await redis.get(name)).to.equal('3')
    expect(await semaphore.tryRelease(ids[0]!)).to.equal(false)
    expect(await rejection(semaphore.release(kept[0]!))).to.have.property('code', 'PERMIT_NOT_HELD')
    expect(await rejection(semaphore.getLeaseTime(kept[0]!))).to.have.property('code', 'PERMIT_NOT_HELD')
    expect(await semaphore.availablePermits()).to.equal(3)
    // Java's way: all or none.
    const more = (await semaphore.acquire({ permits: 2 }))!
    expect(await semaphore.tryRelease([...more, kept[0]!])).to.equal(0)
    expect(await semaphore.availablePermits()).to.equal(1)
    expect(await semaphore.tryRelease([...more, more[0]!])).to.equal(2)
  })

  it("A renewed permit outlives its lease; a killed process's is back within one (P7)", async () => {
    const { semaphore, name, sleeps } = await newSemaphore(1)
    const holder = new Program('hold-permit.ts', redis.options.port!.toString(), name, '1000')
    const id = await holder.line()
    expect(await semaphore.getLeaseTime(id)).to.be.within(0, 1_000)
    const waiting = semaphore.acquire()
    await sleeps()
    expect(await stillPending(waiting, 1_500)).to.equal(true)
    holder.kill()
    await holder.exit
    expect(await timed(() => waiting)).to.be.below(2_500)
  })

  it('The holder of a permit without renewal learns of it before another has it (P7)', async () => {
    const transport = tapped((sent) =>
      sent.name === 'permit-expirable-semaphore/renew' ? new Promise(() => {}) : sent.pass(),
    )
    const { semaphore, name, redisson } = await newSemaphore(1, { lockWatchdogTimeout: 900 }, { transport })
    const lost: string[] = []
    redisson.on('permitLost', ({ semaphoreName, permitId, reason }) =>
      lost.push(`${semaphoreName} ${permitId} ${reason}`),
    )
    const permit = await semaphore.acquirePermit()
    expect(JSON.stringify(permit)).to.equal(JSON.stringify({ semaphoreName: name, id: permit.id }))
    expect(permit.isHeld).to.equal(true)
    const order: string[] = []
    permit.signal.addEventListener('abort', () => order.push('reported'))
    await (await createRedisson()).getPermitExpirableSemaphore(name).acquire()
    order.push('another')
    expect(order).to.deep.equal(['reported', 'another'])
    expect(permit.isHeld).to.equal(false)
    expect(permit.signal.reason).to.be.instanceOf(PermitNotHeldError)
    expect(lost).to.deep.equal([`${name} ${permit.id} lease`])
    expect(await rejection(permit.release())).to.have.property('code', 'PERMIT_NOT_HELD')
  })

  it('A permit that was taken away is found lost at its next renewal', async () => {
    const { semaphore, redisson, timeouts } = await newSemaphore(1, { lockWatchdogTimeout: 600 })
    const permit = await semaphore.acquirePermit()
    const gone = new Promise<string>((resolve) => redisson.on('permitLost', ({ reason }) => resolve(reason)))
    await redis.del(timeouts)
    expect(await gone).to.equal('gone')
    expect(permit.signal.aborted).to.equal(true)
    expect(await redis.exists(timeouts), 'never resurrected').to.equal(0)
  })

  it('A permit that was taken away is found lost at its release, and permitLost says so (V216)', async () => {
    const { semaphore, redisson, timeouts } = await newSemaphore(1)
    const lost: unknown[] = []
    redisson.on('permitLost', (event) => lost.push([event.reason, event.error]))
    const permit = await semaphore.acquirePermit()
    await redis.del(timeouts)
    const error = await rejection(permit.release())
    expect(error).to.have.property('code', 'PERMIT_NOT_HELD')
    expect(permit.signal.reason).to.equal(error)
    expect(lost).to.deep.equal([['gone', error]])
  })

  it('Many permits are renewed by few calls', async () => {
    const scripts = new SentScripts()
    const { semaphore } = await newSemaphore(
      250,
      { lockWatchdogTimeout: 900 },
      { transport: scripts.transport },
    )
    const permits = await Promise.all(Array.from({ length: 250 }, () => semaphore.acquirePermit()))
    await sleep(1_500)
    const renewals = scripts.sent.filter((sent) => sent.name === 'permit-expirable-semaphore/renew').length
    // One by one they would be more than a thousand.
    expect(renewals).to.be.within(5, 250)
    expect(permits.every(({ isHeld }) => isHeld)).to.equal(true)
    expect(await semaphore.acquiredPermits()).to.equal(250)
    await Promise.all(permits.map((permit) => permit.release()))
    expect(await semaphore.availablePermits()).to.equal(250)
  })

  it('setPermits repairs a semaphore of which either key was lost (P8)', async () => {
    for (const which of ['count', 'permits'] as const) {
      const { semaphore, name, timeouts } = await newSemaphore(5)
      const ids = (await semaphore.acquire({ permits: 2 }))!
      await redis.del(which === 'count' ? name : timeouts)
      // Without a count nothing is invented.
      if (which === 'count') {
        expect(await semaphore.getPermits()).to.equal(0)
        await semaphore.release(ids[0]!)
        expect(await redis.exists(name)).to.equal(0)
      }
      await semaphore.setPermits(5)
      expect(await semaphore.getPermits()).to.equal(5)
      expect(await semaphore.acquiredPermits()).to.equal(which === 'count' ? 1 : 0)
    }
    const { semaphore, name } = await newSemaphore(5)
    await semaphore.acquire({ permits: 2 })
    await redis.del(name)
    expect(await semaphore.trySetPermits(4)).to.equal(true)
    expect(await semaphore.availablePermits()).to.equal(2)
    await semaphore.setPermits(1)
    expect(await semaphore.availablePermits()).to.equal(-1)
    await semaphore.addPermits(4)
    expect(await semaphore.getPermits()).to.equal(5)
  })

  it('Both keys live equally long (P8)', async () => {
    const { semaphore, name, timeouts } = await newSemaphore(5)
    await redis.pexpire(name, 50_000)
    await semaphore.acquire()
    expect(await redis.pttl(timeouts)).to.be.within(45_000, 50_000)
    await semaphore.addPermits(1)
    expect(await redis.pttl(name)).to.be.within(45_000, 50_000)
    await redis.persist(name)
    await semaphore.acquire()
    expect(await redis.pttl(timeouts)).to.equal(-1)
  })

  it('shutdown() aborts the signals of permits, and leaves them to their leases', async () => {
    const { semaphore, redisson, timeouts } = await newSemaphore(1)
    const permit = await semaphore.acquirePermit()
    const { signal } = permit
    await redisson.shutdown({ timeout: 0 })
    expect(signal.reason).to.have.property('code', 'REDISSON_SHUTDOWN')
    expect(await redis.zcard(timeouts)).to.equal(1)
    expect(await rejection(permit.release())).to.have.property('code', 'REDISSON_SHUTDOWN')
  })

  it('Keys that hold something else are a WrongTypeError, and stay as they are', async () => {
    const { semaphore, timeouts } = await newSemaphore(1)
    await redis.set(timeouts, 'x')
    const id = '0'.repeat(32)
    for (const call of [
      () => semaphore.acquire(),
      () => semaphore.tryRelease(id),
      () => semaphore.availablePermits(),
      () => semaphore.setPermits(1),
      () => semaphore.trySetPermits(1),
      () => semaphore.addPermits(1),
      () => semaphore.updateLeaseTime(id, 5),
      () => semaphore.getLeaseTime(id),
    ])
      expect(await rejection(call() as Promise<unknown>)).to.have.property('code', 'WRONG_TYPE')
    expect(await redis.get(timeouts)).to.equal('x')
  })

  it('Permits that renew themselves work in a cluster', async function () {
    skipInMemory(this, NO_CLUSTER)
    const nodes = (await sharedCluster()).nodes.map(({ host, port }) => ({ host, port }))
    const options = { redis: { nodes }, lockWatchdogTimeout: 900 }
    const redisson = await createRedisson(options)
    const semaphores = Array.from({ length: 6 }, () =>
      redisson.getPermitExpirableSemaphore(uniqueName('permits')),
    )
    for (const semaphore of semaphores) await semaphore.setPermits(1)
    const permits = await Promise.all(semaphores.map((semaphore) => semaphore.acquirePermit()))
    await sleep(1_500)
    expect(permits.every(({ isHeld }) => isHeld)).to.equal(true)
    const waiting = semaphores[0]!.acquire()
    expect(await stillPending(waiting, 50)).to.equal(true)
    for (const permit of permits) await permit.release()
    await waiting
  })
})
