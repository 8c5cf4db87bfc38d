import { expect } from 'chai'
import { timed, uniqueName } from '../../test/kit/clients'
import { freshName, name } from '../../test/kit/each-test'
import { BOTH_WAYS, READ, WRITE } from '../support/lock-peer'
import { untilAsleep, type World } from '../support/world'

/** From one side's unlock() to the other's acquisition. */
const WOKEN_WITHIN_MS = 5_000
/** A waiter that is woken by it and not by a message has failed. */
const LEASE_MS = 30_000
/** What is held, what is wanted, and so excluded. */
const EXCLUSIONS = [
  [WRITE, READ],
  [WRITE, WRITE],
  [READ, WRITE],
] as const

/** Either side waits for the other's hold of a read-write lock, and is woken by its release. */
export function readWriteWaitingTests(world: World): void {
  const waitingOn = (name: string, clients = 1) => untilAsleep(world.redis, name, clients)

  for (const [holder, waiter] of BOTH_WAYS) {
    for (const [held, wanted] of EXCLUSIONS) {
      describe(`${waiter} waits to ${wanted.type} while ${holder} ${held.type}s`, () => {
        freshName()

        it('and is woken by unlock(), not by one of an inner level', async () => {
          const [holding, waiting] = [world[holder].thread('a'), world[waiter].thread('b')]
          await holding.lock(name, held)
          await holding.lock(name, held)
          const acquired = waiting.lock(name, wanted)
          await waitingOn(name)
          await holding.unlock(name, held)
          expect(await isSettled(acquired, 100)).to.equal(false)
          expect(await timed(() => Promise.all([holding.unlock(name, held), acquired]))).to.be.below(
            WOKEN_WITHIN_MS,
          )
          await waiting.unlock(name, wanted)
        })

        it('in tryLock() with a wait, and only as long as it said', async () => {
          const [holding, waiting] = [world[holder].thread('a'), world[waiter].thread('b')]
          await holding.lock(name, { ...held, leaseTime: LEASE_MS })
          const took = await timed(async () => {
            expect(await waiting.tryLock(name, { ...wanted, waitTime: 200 })).to.equal(false)
          })
          expect(took).to.be.within(190, 200 + WOKEN_WITHIN_MS)
          const acquired = waiting.tryLock(name, { ...wanted, waitTime: 20_000, leaseTime: LEASE_MS })
          await waitingOn(name)
          expect(await timed(() => Promise.all([holding.unlock(name, held), acquired]))).to.be.below(
            WOKEN_WITHIN_MS,
          )
          expect(await acquired).to.equal(true)
          await waiting.unlock(name, wanted)
          expect(await world.redis.exists(name)).to.equal(0)
        })

        it('and is woken by a forced release of either side', async () => {
          for (const forcer of [world.Java, world.Node]) {
            const name = uniqueName()
            await world[holder].thread('force').lock(name, held)
            const acquired = world[waiter].thread('b').lock(name, wanted)
            await waitingOn(name)
            expect(
              await timed(() => Promise.all([forcer.thread('c').forceUnlock(name, held), acquired])),
            ).to.be.below(WOKEN_WITHIN_MS)
            await world[waiter].thread('b').unlock(name, wanted)
          }
        })

        it('and enters when the lease runs out, not before and not much later', async () => {
          await world[holder].thread('a').lock(name, { ...held, leaseTime: 300 })
          const took = await timed(() => world[waiter].thread('b').lock(name, wanted))
          expect(took).to.be.within(200, 300 + WOKEN_WITHIN_MS)
          expect(await world[waiter].thread('b').getHoldCount(name, wanted)).to.equal(1)
          await world[waiter].thread('b').unlock(name, wanted)
        })
      })
    }

    it(`readers of both sides are all woken when the writer of ${holder} releases`, async () => {
      const name = uniqueName()
      await world[holder].thread('a').lock(name, WRITE)
      const readers = [0, 1, 2].flatMap((i) => [world.Java.thread(`r${i}`), world.Node.thread(`r${i}`)])
      const reading = readers.map((reader) => reader.lock(name, READ))
      await waitingOn(name, 2)
      const all = () => Promise.all([world[holder].thread('a').unlock(name, WRITE), ...reading])
      expect(await timed(all)).to.be.below(WOKEN_WITHIN_MS)
      expect(await world.redis.hlen(name)).to.equal(1 + readers.length)
      for (const reader of readers) await reader.unlock(name, READ)
      expect(await world.redis.exists(name)).to.equal(0)
    })

    it(`a writer of ${waiter} waits for the last of the readers of both sides`, async () => {
      const name = uniqueName()
      const [first, last] = [world[waiter].thread('a'), world[holder].thread('a')]
      await first.lock(name, READ)
      await last.lock(name, READ)
      const acquired = world[waiter].thread('b').lock(name, WRITE)
      await waitingOn(name)
      await first.unlock(name, READ)
      expect(await isSettled(acquired, 100)).to.equal(false)
      expect(await timed(() => Promise.all([last.unlock(name, READ), acquired]))).to.be.below(WOKEN_WITHIN_MS)
      await world[waiter].thread('b').unlock(name, WRITE)
    })
  }
}

async function isSettled(promise: Promise<unknown>, withinMs: number): Promise<boolean> {
  const late = new Promise<boolean>((resolve) => setTimeout(resolve, withinMs, false))
  return await Promise.race([promise.then(() => true), late])
}
