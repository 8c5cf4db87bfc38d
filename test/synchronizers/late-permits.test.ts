import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { createRedisson, rejection, uniqueName } from '../kit/clients'
import { tapped } from '../kit/tapped-transport'

describe('A permit whose lease has passed', () => {
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
