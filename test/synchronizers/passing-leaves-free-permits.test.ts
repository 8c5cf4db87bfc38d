import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { createRedisson, uniqueName } from '../kit/clients'

describe('A semaphore passes permits on to a waiter that blocked a smaller request', () => {
  it('the smaller request behind it gets the permit that is free at once (S5)', async () => {
    const redisson = await createRedisson()
    const semaphore = redisson.getSemaphore(uniqueName())
    await semaphore.trySetPermits(3)
    await semaphore.acquire(3)
    const holder = semaphore.acquire(2).then(async () => {
      // By then the next waiter has asked: it wants two, and one is free.
      await sleep(4)
      await semaphore.release(2) // is passed on to it
    })
    const large = semaphore.acquire(2)
    let got = 0
    const small = semaphore.acquire(1).then(() => {
      got = Date.now()
    })
    await sleep(100)
    await semaphore.release(3)
    await holder
    await large
    const since = Date.now()
    await Promise.race([small, sleep(2_000)])
    const free = await semaphore.availablePermits()
    expect(
      got,
      `${free} permit(s) free, and the waiter for one still sleeps after ${Date.now() - since} ms`,
    ).not.to.equal(0)
  })
})
