import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { ClientInternals } from '../../src/client/client'
import { PermitNotHeldError } from '../../src/index'
import { closeAll, createRedisson, openRedis, rejection, uniqueName } from '../kit/clients'
import { waitUntil } from '../kit/servers/index'
import { latch, tapped } from '../kit/tapped-transport'

describe('updateLeaseTime() of a permit that its client holds', () => {
  afterEach(closeAll)

  async function newSemaphore(internals: ClientInternals = {}) {
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
})
