import { expect } from 'chai'
import { timed, uniqueName } from '../../test/kit/clients'
import { freshName, name } from '../../test/kit/each-test'
import { BOTH_WAYS } from '../support/lock-peer'
import { channelOf, untilWaiting, type World } from '../support/world'

/** A message takes milliseconds, also beside other programs. Without one a waiter sleeps for the lease of 30 s. */
const WOKEN_WITHIN_MS = 5_000
/** Far beyond any test: a waiter that is woken by it and not by a message has failed. */
const LEASE_MS = 30_000

/** Either side waits on the other's hold and is woken by its release. */
export function waitingTests(world: World): void {
  for (const [holder, waiter] of BOTH_WAYS) {
    describe(`${waiter} waits for ${holder}`, () => {
      freshName()

      it(`${waiter} waiting for ${holder} is woken by unlock(), again and again`, async () => {
        const [holding, waiting] = [world[holder].thread('a'), world[waiter].thread('b')]
        for (let round = 0; round < 3; round++) {
          await holding.lock(name)
          const acquired = waiting.lock(name)
          await untilWaiting(world.redis, channelOf(name))
          expect(await timed(() => Promise.all([holding.unlock(name), acquired]))).to.be.below(
            WOKEN_WITHIN_MS,
          )
          await waiting.unlock(name)
        }
      })

      it(`${waiter} waiting for ${holder} in tryLock() with a wait is woken at any lease`, async () => {
        const [holding, waiting] = [world[holder].thread('a'), world[waiter].thread('b')]
        await holding.lock(name, { leaseTime: LEASE_MS })
        const acquired = waiting.tryLock(name, { waitTime: 20_000, leaseTime: LEASE_MS })
        await untilWaiting(world.redis, channelOf(name))
        expect(await timed(() => Promise.all([holding.unlock(name), acquired]))).to.be.below(WOKEN_WITHIN_MS)
        expect(await acquired).to.equal(true)
        await waiting.unlock(name)
      })

      it(`${waiter} waiting for ${holder} waits only as long as its wait time (A7)`, async () => {
        await world[holder].thread('a').lock(name)
        const took = await timed(async () => {
          expect(await world[waiter].thread('b').tryLock(name, { waitTime: 300 })).to.equal(false)
        })
        expect(took).to.be.within(290, 300 + WOKEN_WITHIN_MS)
        await world[holder].thread('a').unlock(name)
        expect(await world.redis.exists(name)).to.equal(0)
      })

      it(`${waiter} waiting for ${holder} is not woken by a partial unlock()`, async () => {
        const [holding, waiting] = [world[holder].thread('a'), world[waiter].thread('b')]
        await holding.lock(name)
        await holding.lock(name)
        let acquired = false
        const acquiring = waiting.lock(name).then(() => {
          acquired = true
        })
        await untilWaiting(world.redis, channelOf(name))
        await holding.unlock(name)
        await new Promise((resolve) => setTimeout(resolve, 100))
        expect(acquired).to.equal(false)
        expect(await timed(() => Promise.all([holding.unlock(name), acquiring]))).to.be.below(WOKEN_WITHIN_MS)
        await waiting.unlock(name)
      })

      it(`${waiter} waiting for ${holder} is woken by a forced release, from either side`, async () => {
        for (const forcer of [world.Java, world.Node]) {
          const name = uniqueName()
          await world[holder].thread('a').lock(name)
          const acquired = world[waiter].thread('b').lock(name)
          await untilWaiting(world.redis, channelOf(name))
          const took = await timed(() => Promise.all([forcer.thread('c').forceUnlock(name), acquired]))
          expect(took).to.be.below(WOKEN_WITHIN_MS)
          await world[waiter].thread('b').unlock(name)
          await world[holder]
            .thread('a')
            .unlock(name)
            .catch(() => {})
        }
      })

      it(`${waiter} waiting for ${holder} acquires when the lease ends (A6)`, async () => {
        const [holding, waiting] = [world[holder].thread('a'), world[waiter].thread('b')]
        await holding.lock(name, { leaseTime: 700 })
        const took = await timed(() => waiting.lock(name))
        expect(took).to.be.within(600, 700 + WOKEN_WITHIN_MS)
        expect(await waiting.getHoldCount(name)).to.equal(1)
        await waiting.unlock(name)
      })
    })
  }

  it('passes a lock through a queue of both sides without a pause', async () => {
    const name = uniqueName()
    await world.Java.thread('a').lock(name)
    const queue = [0, 1, 2].flatMap((i) => [world.Java.thread(`q${i}`), world.Node.thread(`q${i}`)])
    const passing = queue.map(async (thread) => {
      await thread.lock(name)
      await thread.unlock(name)
    })
    await untilWaiting(world.redis, channelOf(name), 2)
    // Six handoffs, each of which may take what one may.
    const took = await timed(() => Promise.all([world.Java.thread('a').unlock(name), ...passing]))
    expect(took).to.be.below(6 * WOKEN_WITHIN_MS)
    expect(await world.redis.exists(name)).to.equal(0)
  })
}
