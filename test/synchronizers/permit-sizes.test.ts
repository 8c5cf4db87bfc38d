import { expect } from 'chai'
import { createRedisson, timed, uniqueName } from '../kit/clients'
import { asleep } from '../kit/sleepers'

describe('Requests of different sizes at a semaphore whose permits expire', () => {
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
})
