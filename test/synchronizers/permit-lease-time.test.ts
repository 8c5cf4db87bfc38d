import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { PermitNotHeldError } from '../../src/index'
import { closeAll, createRedisson, openRedis, uniqueName } from '../kit/clients'

describe('updateLeaseTime() of a permit that its client holds', () => {
  afterEach(closeAll)

  async function newSemaphore() {
    const redisson = await createRedisson()
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
})
