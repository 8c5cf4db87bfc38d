import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { createRedisson } from '../kit/clients'
import { freshName, name } from '../kit/each-test'

describe('Names that end like the name of a queue beside', () => {
  freshName()

  it('A waiter of a free spin lock does not wait behind the lock "<its name> spin"', async () => {
    const [one, two] = [await createRedisson(), await createRedisson()]
    await two.getLock(`${name} spin`).lock()
    const waiter = one.getLock(`${name} spin`).tryLock(3_000)
    await sleep(200)
    const spin = one.getSpinLock(name)
    expect(await spin.isLocked(), 'is locked').to.equal(false)
    expect(await spin.tryLock(), 'without a wait').to.equal(true)
    await spin.unlock()
    const began = performance.now()
    expect(await spin.tryLock(1_500), 'with a wait').to.equal(true)
    expect(performance.now() - began).to.be.below(1_000)
    expect(await waiter).to.equal(false)
  })

  it('A waiter of the free lock "<name> spin" does not wait behind the spin lock', async () => {
    const [one, two] = [await createRedisson(), await createRedisson()]
    await two.getLock(name).lock()
    const waiter = one.getSpinLock(name).tryLock(3_000)
    await sleep(200)
    expect(await one.getLock(`${name} spin`).tryLock(1_500)).to.equal(true)
    await waiter
  })

  it('A single look at an open latch is no look at the latch "<its name> single checks"', async () => {
    const one = await createRedisson()
    const other = one.getCountDownLatch(`${name} single checks`)
    await other.trySetCount(1)
    const waiting = other.await(3_000)
    await sleep(200)
    expect(await one.getCountDownLatch(name).await(0), 'no count is set, so it is open').to.equal(true)
    await other.countDown()
    await waiting
  })
})
