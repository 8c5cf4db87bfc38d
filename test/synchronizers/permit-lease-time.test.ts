import { channel } from 'node:diagnostics_channel'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { type Permit, PermitNotHeldError, type RPermitExpirableSemaphore } from '../../src/index'
import { timeoutsKey } from '../../src/synchronizers/expirable-permit-scripts'
import { closeAll, createRedisson, openRedis, rejection, uniqueName } from '../kit/clients'
import { FastClock } from '../kit/fast-clock'
import { internalsOf } from '../kit/internals'
import { JumpingClock } from '../kit/jumping-clock'
import { waitUntil } from '../kit/servers/index'
import { latch, tapped } from '../kit/tapped-transport'

describe('updateLeaseTime() of a permit that its client holds', () => {
  afterEach(closeAll)

  async function newSemaphore(internals?: Parameters<typeof createRedisson>[1]) {
    const redisson = await createRedisson({}, internals)
    const name = uniqueName('permits')
    const semaphore = redisson.getPermitExpirableSemaphore(name)
    await semaphore.trySetPermits(1)
    const lost: string[] = []
    redisson.on('permitLost', ({ reason }) => lost.push(reason))
    return { redisson, name, semaphore, lost }
  }

  it('A permit that renewed itself has the lease that was set, and its holder learns of its end before another can have its place (P7)', async () => {
    const { name, semaphore, lost } = await newSemaphore()
    const permit = await semaphore.acquirePermit()
    const order: string[] = []
    permit.signal.addEventListener('abort', () => order.push('reported'))
    expect(await semaphore.updateLeaseTime(permit.id, 900)).to.equal(true)
    expect(permit.isHeld).to.equal(true)
    await (await createRedisson()).getPermitExpirableSemaphore(name).acquire()
    order.push('another')
    expect(order).to.deep.equal(['reported', 'another'])
    expect(permit.isHeld).to.equal(false)
    expect(permit.signal.reason).to.be.instanceOf(PermitNotHeldError)
    expect(lost, 'the lease was its own').to.deep.equal([])
  })

  for (const [how, leaseTime] of [
    ['longer', 30_000],
    ['endless', -1],
  ] as const)
    it(`A permit with a lease that was made ${how} is held beyond the first one (P7)`, async () => {
      const { name, semaphore, lost } = await newSemaphore()
      const redis = await openRedis()
      const permit = await semaphore.acquirePermit({ leaseTime: 600 })
      expect(await semaphore.updateLeaseTime(permit.id, leaseTime)).to.equal(true)
      await sleep(800)
      expect(permit.isHeld).to.equal(true)
      expect(permit.signal.aborted).to.equal(false)
      await permit.release()
      expect(await redis.get(name)).to.equal('1')
      expect(lost).to.deep.equal([])
    })

  it('A permit that ended here, and that updateLeaseTime(-1) gave a lease without end before it ended on the server, is free after release() (V114)', async () => {
    const clock = new JumpingClock()
    const { name, semaphore } = await newSemaphore({ clock })
    const redis = await openRedis()
    const permit = await semaphore.acquirePermit({ leaseTime: 5_000 })
    clock.stood = 4_700
    expect(permit.isHeld).to.equal(false)
    expect(await semaphore.updateLeaseTime(permit.id, -1)).to.equal(true)
    Object.assign(clock, { stood: 60_000, jumped: 60_000 })
    expect((await rejection(permit.release())).code).to.equal('PERMIT_NOT_HELD')
    await waitUntil('it is free', async () => (await redis.get(name)) === '1')
  })

  it('A permit that updateLeaseTime(-1) gives to the watchdog is free again after its holder died (V8)', async () => {
    const redisson = await createRedisson({ lockWatchdogTimeout: 1_000 })
    const semaphore = redisson.getPermitExpirableSemaphore(uniqueName('permits'))
    await semaphore.trySetPermits(1)
    const permit = await semaphore.acquirePermit({ leaseTime: 60_000 })
    expect(await semaphore.updateLeaseTime(permit.id, -1)).to.equal(true)
    expect(await semaphore.getLeaseTime(permit.id)).to.be.within(1, 1_000)
    await sleep(1_500)
    expect(permit.isHeld, 'it is renewed').to.equal(true)
    expect(await semaphore.getLeaseTime(permit.id)).to.be.within(1, 1_000)
  })

  it('A permit whose lease ends while updateLeaseTime(-1) is under way is told in time (V49)', async () => {
    const transport = tapped(async (sent) => {
      if (sent.name === 'permit-expirable-semaphore/update-lease-time') await sleep(800)
      return await sent.pass()
    })
    const { semaphore } = await newSemaphore({ transport })
    const permit = await semaphore.acquirePermit({ leaseTime: 300 })
    // A read of `signal` or `isHeld` compares the clock. A listener needs the timer.
    let isTold = false
    permit.signal.addEventListener('abort', () => (isTold = true))
    const updated = semaphore.updateLeaseTime(permit.id, -1)
    await sleep(400)
    expect(isTold).to.equal(true)
    expect(await updated).to.equal(false)
  })

  for (const [error, code] of [
    ["NOPERM this user has no permissions to run the 'zadd' command", 'REDIS_REFUSED'],
    ["OOM command not allowed when used memory > 'maxmemory'", 'REDIS_UNAVAILABLE'],
  ] as const)
    it(`A permit whose updateLeaseTime() is answered ${error.split(' ')[0]} goes on being renewed, and its loss is told (V9)`, async () => {
      const transport = tapped(async (sent) => {
        if (sent.name === 'permit-expirable-semaphore/update-lease-time') throw new Error(error)
        return await sent.pass()
      })
      const redisson = await createRedisson(
        { lockWatchdogTimeout: 1_000 },
        { transport, unavailableAfter: 300 },
      )
      redisson.on('error', () => {})
      const name = uniqueName('permits')
      const semaphore = redisson.getPermitExpirableSemaphore(name)
      await semaphore.trySetPermits(1)
      const permit = await semaphore.acquirePermit()
      expect(await rejection(semaphore.updateLeaseTime(permit.id, 900))).to.have.property('code', code)
      await sleep(1_500)
      expect(permit.isHeld, 'it is renewed').to.equal(true)
      const lost = new Promise((resolve) => redisson.once('permitLost', resolve))
      await (await openRedis()).del(`{${name}}:timeout`)
      await lost
    })

  for (const [how, release] of [
    ['release(id)', (semaphore, id) => semaphore.release(id)],
    ['release([id])', (semaphore, id) => semaphore.release([id])],
    ['tryRelease(id)', (semaphore, id) => semaphore.tryRelease(id)],
    ['tryRelease([id])', (semaphore, id) => semaphore.tryRelease([id])],
  ] as [string, (semaphore: RPermitExpirableSemaphore, id: string) => Promise<unknown>][])
    it(`A permit object is released by ${how} (V10)`, async () => {
      const { semaphore, lost } = await newSemaphore()
      const permit = await semaphore.acquirePermit()
      await release(semaphore, permit.id)
      expect(permit.isHeld).to.equal(false)
      expect(permit.signal.aborted).to.equal(false)
      await permit[Symbol.asyncDispose]()
      expect(await rejection(permit.release())).to.be.instanceOf(PermitNotHeldError)
      const next = await semaphore.acquirePermit()
      expect(next.isHeld).to.equal(true)
      expect(lost).to.deep.equal([])
    })

  it('tryRelease() of a list that it does not release leaves a permit object held (V10)', async () => {
    const { semaphore } = await newSemaphore()
    const permit = await semaphore.acquirePermit()
    expect(await semaphore.tryRelease([permit.id, '0'.repeat(32)])).to.equal(0)
    expect(permit.isHeld).to.equal(true)
    await permit.release()
  })

  it('A permit object is not held in any moment after its tryRelease() by a list was called (V127)', async () => {
    let isAgainHeld = false
    let look = (): Promise<void> => Promise.resolve()
    const transport = tapped(async (sent) => {
      const answer = await sent.pass()
      if (sent.name === 'permit-expirable-semaphore/release') void look()
      return answer
    })
    const { semaphore } = await newSemaphore({ transport })
    const permit = await semaphore.acquirePermit()
    look = async () => {
      for (let microtask = 0; microtask < 100; microtask++) {
        await undefined
        isAgainHeld ||= permit.isHeld
      }
    }
    const releasing = semaphore.tryRelease([permit.id])
    expect(permit.isHeld).to.equal(false)
    expect(await releasing).to.equal(1)
    await sleep(10)
    expect(isAgainHeld).to.equal(false)
  })

  it('A renewal that finds a permit gone while its tryRelease() by a list is in flight is no loss (V128)', async () => {
    const gone = latch()
    const transport = tapped(async (sent) => {
      const answer = await sent.pass()
      if (sent.name === 'permit-expirable-semaphore/release') await gone.opened
      return answer
    })
    const redisson = await createRedisson({ lockWatchdogTimeout: 900 }, { transport })
    const lost: string[] = []
    redisson.on('permitLost', ({ reason }) => lost.push(reason))
    const semaphore = redisson.getPermitExpirableSemaphore(uniqueName('permits'))
    await semaphore.trySetPermits(1)
    const renewals = channel('rlock:renew')
    const heard = (message: unknown) => {
      const { clientId, outcome } = message as { clientId: string; outcome: string }
      if (clientId === redisson.getId() && outcome === 'gone') gone.open()
    }
    renewals.subscribe(heard)
    try {
      const done = semaphore.withPermit(async (permit) => {
        expect(await semaphore.tryRelease([permit.id])).to.equal(1)
        expect(permit.signal.aborted).to.equal(false)
        return 'done'
      })
      expect(await done).to.equal('done')
    } finally {
      renewals.unsubscribe(heard)
    }
    expect(lost).to.deep.equal([])
    expect(await semaphore.availablePermits()).to.equal(1)
  })

  for (const [how, ask] of [
    ['tryRelease() of a list', async (semaphore, ids) => expect(await semaphore.tryRelease(ids)).to.equal(0)],
    [
      'getLeaseTime()',
      async (semaphore, [, id]) => {
        expect(await rejection(semaphore.getLeaseTime(id))).to.have.property('code', 'PERMIT_NOT_HELD')
      },
    ],
  ] as [string, (semaphore: RPermitExpirableSemaphore, ids: [string, string]) => Promise<unknown>][])
    it(`A permit that ${how} finds gone is lost at once, and no other one (V132)`, async () => {
      const { name, semaphore, lost } = await newSemaphore()
      await semaphore.setPermits(2)
      const [kept, taken] = [await semaphore.acquirePermit(), await semaphore.acquirePermit()]
      await (await createRedisson()).getPermitExpirableSemaphore(name).release(taken.id)
      await ask(semaphore, [kept.id, taken.id])
      expect(taken.isHeld).to.equal(false)
      expect(taken.signal.aborted).to.equal(true)
      expect(lost).to.deep.equal(['gone'])
      expect(kept.isHeld).to.equal(true)
      await kept.release()
    })

  it('After a failover a permit has the lease that updateLeaseTime() set and a replica has (V15)', async () => {
    const { redisson, semaphore } = await newSemaphore()
    const permit = await semaphore.acquirePermit({ leaseTime: 700 })
    expect(await semaphore.updateLeaseTime(permit.id, 60_000)).to.equal(true)
    // As after a reconnect to another primary.
    internalsOf(redisson).leases.countFromReplicas()
    await sleep(900)
    expect(permit.isHeld).to.equal(true)
    await permit.release()
  })

  it('A permit without a lease whose release is refused is not retried for ever (V27)', async () => {
    let refused = 0
    const abort = new AbortController()
    const transport = tapped(async (sent) => {
      if (sent.name === 'permit-expirable-semaphore/acquire') {
        const reply = (await sent.pass()) as number[]
        if (reply[0] === 1) abort.abort(new Error('enough'))
        return reply
      }
      if (sent.name !== 'permit-expirable-semaphore/release') return await sent.pass()
      refused++
      throw new Error("NOPERM this user has no permissions to run the 'zrem' command")
    })
    const { redisson, semaphore } = await newSemaphore({ transport, clock: new FastClock(50) })
    redisson.on('error', () => {})
    const acquiring = semaphore.acquire({ permits: 1, signal: abort.signal })
    expect((await rejection(acquiring)).message).to.equal('enough')
    await waitUntil('it gave up', () => internalsOf(redisson).orphans.size === 0, 10_000)
    expect(refused).to.be.within(2, 200)
  })

  it('A permit that is found gone by updateLeaseTime() is lost at once (P7)', async () => {
    const { name, semaphore, lost } = await newSemaphore()
    const permit = await semaphore.acquirePermit()
    await (await openRedis()).del(`{${name}}:timeout`)
    expect(await semaphore.updateLeaseTime(permit.id, 60_000)).to.equal(false)
    expect(permit.isHeld).to.equal(false)
    expect(lost).to.deep.equal(['gone'])
  })

  it('Two calls at once: a longer lease counts only when the server has answered it (P7)', async () => {
    const longer = latch()
    const transport = tapped(async (sent) => {
      if (sent.name === 'permit-expirable-semaphore/update-lease-time' && sent.args[0] === 60_000)
        await longer.opened
      return await sent.pass()
    })
    const { semaphore } = await newSemaphore({ transport })
    const permit = await semaphore.acquirePermit()
    const first = semaphore.updateLeaseTime(permit.id, 200)
    const second = semaphore.updateLeaseTime(permit.id, 60_000)
    expect(await first).to.equal(true)
    await sleep(300)
    expect(permit.isHeld, 'its lease on the server has ended').to.equal(false)
    longer.open()
    expect(await second).to.equal(false)
  })

  it('A release that is called after updateLeaseTime() takes effect after it (P7)', async () => {
    const { semaphore } = await newSemaphore()
    const permit = await semaphore.acquirePermit()
    const set = semaphore.updateLeaseTime(permit.id, 60_000)
    await permit.release()
    expect(await set).to.equal(true)
  })

  for (const leaseTime of [60_000, -1])
    it(`A release that does not reach the server is retried beyond the lease that updateLeaseTime(${leaseTime}) replaced (guarantee 8, P7)`, async () => {
      let isCut = false
      const transport = tapped(async (sent) => {
        if (!isCut) return await sent.pass()
        // The update is applied, and its answer is lost with the connection.
        if (sent.name === 'permit-expirable-semaphore/update-lease-time') await sent.pass()
        throw new Error('Connection is closed.')
      })
      const { name, semaphore } = await newSemaphore({ transport, unavailableAfter: 100 })
      const permit = await semaphore.acquirePermit({ leaseTime: 1_000 })
      isCut = true
      expect(await rejection(semaphore.updateLeaseTime(permit.id, leaseTime))).to.have.property(
        'code',
        'REDIS_UNAVAILABLE',
      )
      expect(await rejection(permit.release())).to.have.property('code', 'REDIS_UNAVAILABLE')
      await sleep(1_500)
      isCut = false
      const redis = await openRedis()
      await waitUntil('the permit is free', async () => (await redis.get(name)) === '1')
    })

  for (const [how, answerOf] of [
    ['comes too late', (late: Promise<void>) => late],
    ['is lost with the connection', () => Promise.reject(new Error('Connection is closed.'))],
  ] as const)
    it(`A permit whose updateLeaseTime() was applied, and whose answer ${how}, is free when its older lease is over (V47)`, async () => {
      const late = latch()
      const transport = tapped(async (sent) => {
        const answer = await sent.pass()
        if (sent.name === 'permit-expirable-semaphore/update-lease-time') await answerOf(late.opened)
        return answer
      })
      const { name, semaphore } = await newSemaphore({ transport, unavailableAfter: 100 })
      const permit = await semaphore.acquirePermit({ leaseTime: 800 })
      const update = semaphore.updateLeaseTime(permit.id, 3_600_000).catch((error) => error)
      const redis = await openRedis()
      await waitUntil('the permit is free', async () => (await redis.get(name)) === '1')
      expect(permit.isHeld).to.equal(false)
      late.open()
      expect(await update).to.not.equal(true)
      expect(await redis.zcard(timeoutsKey(name))).to.equal(0)
    })

  it('A permit whose shorter lease was applied and not answered is renewed before that lease ends (V53)', async () => {
    const transport = tapped(async (sent) => {
      const answer = await sent.pass()
      if (sent.name === 'permit-expirable-semaphore/update-lease-time')
        throw new Error('Connection is closed.')
      return answer
    })
    const { semaphore, lost } = await newSemaphore({ transport, unavailableAfter: 100 })
    const permit = await semaphore.acquirePermit()
    const update = await rejection(semaphore.updateLeaseTime(permit.id, 9_000))
    expect(update).to.have.property('code', 'REDIS_UNAVAILABLE')
    await waitUntil('it is renewed', async () => (await semaphore.getLeaseTime(permit.id)) > 15_000)
    expect(permit.isHeld).to.equal(true)
    expect(lost).to.deep.equal([])
  })

  it('A permit whose shorter lease was applied and not answered is told in time when it is not renewed either (V53)', async () => {
    const transport = tapped(async (sent) => {
      if (sent.name === 'permit-expirable-semaphore/renew') throw new Error('Connection is closed.')
      const answer = await sent.pass()
      if (sent.name === 'permit-expirable-semaphore/update-lease-time')
        throw new Error('Connection is closed.')
      return answer
    })
    const { redisson, name, semaphore } = await newSemaphore({ transport, unavailableAfter: 100 })
    redisson.on('error', () => {})
    const permit = await semaphore.acquirePermit()
    const order: string[] = []
    permit.signal.addEventListener('abort', () => order.push('reported'))
    await rejection(semaphore.updateLeaseTime(permit.id, 1_000))
    await (await createRedisson()).getPermitExpirableSemaphore(name).acquire()
    order.push('another')
    expect(order).to.deep.equal(['reported', 'another'])
  })

  it('updateLeaseTime() that waited for an earlier one sets no lease of a permit that was lost meanwhile (V54)', async () => {
    const late = latch()
    const transport = tapped(async (sent) => {
      const answer = await sent.pass()
      if (sent.name === 'permit-expirable-semaphore/update-lease-time') await late.opened
      return answer
    })
    const { semaphore, lost } = await newSemaphore({ transport })
    const permit = await semaphore.acquirePermit({ leaseTime: 2_000 })
    permit.signal.addEventListener('abort', () => late.open())
    const first = semaphore.updateLeaseTime(permit.id, 2_000)
    const second = semaphore.updateLeaseTime(permit.id, 3_600_000)
    expect(await Promise.all([first, second])).to.deep.equal([false, false])
    expect(permit.isHeld).to.equal(false)
    await waitUntil('the permit is free', async () => (await semaphore.availablePermits()) === 1)
    expect(lost).to.deep.equal([])
  })

  /** The server refuses the release of a permit with a long lease, and then no more. */
  async function releaseRefused(
    release: (semaphore: RPermitExpirableSemaphore, permit: Permit) => Promise<unknown>,
  ) {
    let isRefused = true
    const transport = tapped(async (sent) => {
      if (!isRefused || sent.name !== 'permit-expirable-semaphore/release') return await sent.pass()
      throw Object.assign(new Error('NOPERM this user has no permissions'), { name: 'ReplyError' })
    })
    const { redisson, name, semaphore } = await newSemaphore({ transport })
    redisson.on('error', () => {})
    const permit = await semaphore.acquirePermit()
    await semaphore.updateLeaseTime(permit.id, 3_600_000)
    expect(await rejection(release(semaphore, permit))).to.have.property('code', 'REDIS_REFUSED')
    isRefused = false
    const redis = await openRedis()
    await waitUntil('the permit is free', async () => (await redis.get(name)) === '1')
  }

  it('A permit whose release the server refuses is free again soon after, and not when its long lease ends (V52)', () =>
    releaseRefused((_, permit) => permit.release()))

  for (const call of ['release', 'tryRelease'] as const)
    it(`A permit whose ${call}() by its id the server refuses is free again soon after (V86)`, () =>
      releaseRefused((semaphore, { id }) => semaphore[call](id)))
})
