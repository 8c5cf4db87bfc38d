import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { closeAll, createRedisson, uniqueName } from '../kit/clients'
import { tapped } from '../kit/tapped-transport'

describe('A try for permits that comes after its deadline', () => {
  afterEach(closeAll)

  it('A try that came too late says nothing of the permits to a caller whose wait is over (P3)', async () => {
    const other = await createRedisson()
    const name = uniqueName('permits')
    await other.getPermitExpirableSemaphore(name).trySetPermits(5)
    const transport = tapped(async (sent) => {
      const reply = await sent.pass()
      await sleep(30)
      return reply
    })
    const semaphore = (await createRedisson({}, { transport })).getPermitExpirableSemaphore(name)
    // The first try for a permit without a lease only asks for the server's time.
    const first = semaphore.acquire()
    const second = semaphore.tryAcquire({ permits: 1, waitTime: 10 })
    expect(await first).to.be.a('string')
    expect(await second).to.have.length(1)
  })
})
