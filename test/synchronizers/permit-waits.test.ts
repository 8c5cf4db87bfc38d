import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { createRedisson, rejection, timed, uniqueName } from '../kit/clients'
import { asleep } from '../kit/sleepers'
import { tapped } from '../kit/tapped-transport'

describe('Waits for permits that expire', () => {
  for (const [how, waitTime, abortAfter] of [
    ['is over', 200, undefined],
    ['is aborted', 60_000, 200],
  ] as const)
    it(`A large request blocks a smaller one until its wait ${how}, no longer (V57)`, async () => {
      const redisson = await createRedisson()
      const name = uniqueName('permits')
      const semaphore = redisson.getPermitExpirableSemaphore(name)
      await semaphore.trySetPermits(3)
      await semaphore.acquire()
      const signal = abortAfter ? AbortSignal.timeout(abortAfter) : undefined
      const large = semaphore.tryAcquire({ permits: 3, waitTime, signal }).catch(() => undefined)
      await asleep(redisson, `permit ${name}`, 1)
      const small = semaphore.tryAcquire({ permits: 1, waitTime: 10_000 })
      expect(await large).to.equal(undefined)
      expect(await timed(() => small)).to.be.lessThan(5_000)
      expect(await small).to.have.length(1)
    })

  it("The client's waitTime limits all tries of an acquire() whose grants are late (V146)", async () => {
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
})
