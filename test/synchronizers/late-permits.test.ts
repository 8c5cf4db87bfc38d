import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { Permit } from '../../src/index'
import { closeAll, createRedisson, openRedis, rejection, uniqueName } from '../kit/clients'
import { JumpingClock } from '../kit/jumping-clock'
import { waitUntil } from '../kit/servers/index'
import { tapped } from '../kit/tapped-transport'

describe('A permit whose lease has passed', () => {
  afterEach(closeAll)

  it('Code that runs while a lost permit is being released may ask whether it is held (V144)', async () => {
    const clock = new JumpingClock()
    let permit: Permit | undefined
    const releases: unknown[] = []
    const transport = tapped((sent) => {
      if (sent.name === 'permit-expirable-semaphore/release' && !sent.bySource) releases.push(permit?.isHeld)
      return sent.pass()
    })
    const redisson = await createRedisson({}, { clock, transport })
    const name = uniqueName('permits')
    const semaphore = redisson.getPermitExpirableSemaphore(name)
    await semaphore.trySetPermits(1)
    const lost: string[] = []
    redisson.on('permitLost', ({ reason }) => lost.push(reason))
    const redis = await openRedis()
    permit = await semaphore.acquirePermit()
    await semaphore.updateLeaseTime(permit.id, 50_000)
    await semaphore.updateLeaseTime(permit.id, 5_000)
    await semaphore.updateLeaseTime(permit.id, -1)
    Object.assign(clock, { stood: 60_000, jumped: 60_000 })
    expect(permit.isHeld).to.equal(false)
    await waitUntil('it is free', async () => (await redis.get(name)) === '1')
    expect(releases).to.deep.equal([false])
    expect(lost).to.deep.equal(['lease'])
  })

  it('A permit that renewed itself, and ended before a shorter lease was answered, was lost, and its loss is told', async () => {
    const transport = tapped(async (sent) => {
      if (sent.name === 'permit-expirable-semaphore/update-lease-time') await sleep(700)
      return await sent.pass()
    })
    const redisson = await createRedisson({}, { transport })
    const semaphore = redisson.getPermitExpirableSemaphore(uniqueName('permits'))
    await semaphore.trySetPermits(1)
    const lost: string[] = []
    redisson.on('permitLost', ({ reason }) => lost.push(reason))
    const permit = await semaphore.acquirePermit()
    const updated = semaphore.updateLeaseTime(permit.id, 300)
    await waitUntil('it has ended', () => !permit.isHeld)
    await updated
    expect(lost).to.deep.equal(['lease'])
  })

  it('The waitTime of the client limits all tries of an acquire() together whose grants come too late (V146)', async () => {
    let isFirst = true
    const transport = tapped(async (sent) => {
      const answer = await sent.pass()
      if (sent.name !== 'permit-expirable-semaphore/acquire' || !isFirst) return answer
      isFirst = false
      await sleep(1_500)
      return answer
    })
    const redisson = await createRedisson({ waitTime: 2_000 }, { transport })
    const semaphore = redisson.getPermitExpirableSemaphore(uniqueName('permits'))
    await semaphore.trySetPermits(1)
    const acquiring = rejection(semaphore.acquirePermit({ leaseTime: 300 }))
    const started = performance.now()
    await sleep(50)
    await (await createRedisson()).getPermitExpirableSemaphore(semaphore.getName()).acquire()
    expect((await acquiring).code).to.equal('LOCK_TIMEOUT')
    expect(performance.now() - started).to.be.lessThan(3_000)
  })

  it('is released where updateLeaseTime() set its lease anew, as long as before, and was not answered (V149)', async () => {
    const transport = tapped(async (sent) => {
      const answer = await sent.pass()
      if (sent.name === 'permit-expirable-semaphore/update-lease-time')
        throw new Error('Connection is closed.')
      return answer
    })
    const redisson = await createRedisson({}, { transport, unavailableAfter: 100 })
    const semaphore = redisson.getPermitExpirableSemaphore(uniqueName('permits'))
    await semaphore.trySetPermits(1)
    const redis = await openRedis()
    const permit = await semaphore.acquirePermit({ leaseTime: 2_000 })
    await sleep(1_000)
    expect((await rejection(semaphore.updateLeaseTime(permit.id, 2_000))).code).to.equal('REDIS_UNAVAILABLE')
    expect(permit.isHeld).to.equal(true)
    await waitUntil('it is free', async () => (await redis.get(semaphore.getName())) === '1')
    expect(permit.isHeld).to.equal(false)
  })
})
