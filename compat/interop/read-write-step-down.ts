import { expect } from 'chai'
import { timed, uniqueName } from '../../test/kit/clients'
import { READ, type Side, WRITE } from '../support/lock-peer'
import { untilAsleep, type World } from '../support/world'

const WOKEN_WITHIN_MS = 5_000
/** The write lease, and so what those who wait have seen of it. */
const WRITE_LEASE_MS = 1_200

/** A writer that reads as well releases the write side: readers may enter from then on. */
export function stepDownTests(world: World): void {
  it('by Node lets the waiting readers of both sides in at once', async () => {
    const name = uniqueName()
    const writer = world.Node.thread('a')
    await writer.lock(name, WRITE)
    await writer.lock(name, READ)
    const readers = [0, 1].flatMap((i) => [world.Java.thread(`r${i}`), world.Node.thread(`r${i}`)])
    const reading = readers.map((reader) => reader.lock(name, READ))
    await untilAsleep(world.redis, name, 2)
    const took = await timed(() => Promise.all([writer.unlock(name, WRITE), ...reading]))
    report('Node', 'both sides', took)
    expect(took).to.be.below(WOKEN_WITHIN_MS)
    expect(await writer.getHoldCount(name, READ)).to.equal(1)
    for (const reader of [writer, ...readers]) await reader.unlock(name, READ)
    expect(await world.redis.exists(name)).to.equal(0)
  })

  // A fact of Java, of every version: it publishes nothing here. Ours can only fall back to the TTL, too.
  for (const side of ['Java', 'Node'] as const) {
    it(`by Java leaves the waiting readers of ${side} asleep until the TTL they saw has run out`, async () => {
      const name = uniqueName()
      const [writer, reader] = [world.Java.thread('a'), world[side].thread('r')]
      const waitedMs = timed(async () => {
        await writer.lock(name, { ...WRITE, leaseTime: WRITE_LEASE_MS })
        await reader.lock(name, READ)
      })
      await untilAsleep(world.redis, name)
      // For longer than the write hold: what ends the wait is not that the lock is free.
      await writer.lock(name, { ...READ, leaseTime: 10_000 })
      await writer.unlock(name, WRITE)
      const took = await waitedMs
      report('Java', side, took)
      expect(took).to.be.within(WRITE_LEASE_MS - 100, WRITE_LEASE_MS + WOKEN_WITHIN_MS)
      expect(await writer.getHoldCount(name, READ)).to.equal(1)
      await reader.unlock(name, READ)
      await writer.unlock(name, READ)
    })

    it(`by Java lets the readers of ${side} in that come then`, async () => {
      const name = uniqueName()
      const [writer, reader] = [world.Java.thread('a'), world[side].thread('r')]
      await writer.lock(name, WRITE)
      await writer.lock(name, READ)
      expect(await reader.tryLock(name, READ)).to.equal(false)
      await writer.unlock(name, WRITE)
      expect(await reader.tryLock(name, READ)).to.equal(true)
      await reader.unlock(name, READ)
      await writer.unlock(name, READ)
    })
  }

  it('keeps writers of either side out until the last read hold is released, and wakes them then', async () => {
    for (const [from, to] of [
      ['Node', 'Java'],
      ['Java', 'Node'],
    ] as const) {
      const name = uniqueName()
      const writer = world[from].thread('a')
      await writer.lock(name, WRITE)
      await writer.lock(name, READ)
      const acquired = world[to].thread('b').lock(name, WRITE)
      await untilAsleep(world.redis, name)
      await writer.unlock(name, WRITE)
      expect(await world[to].thread('c').tryLock(name, WRITE)).to.equal(false)
      expect(await timed(() => Promise.all([writer.unlock(name, READ), acquired]))).to.be.below(
        WOKEN_WITHIN_MS,
      )
      await world[to].thread('b').unlock(name, WRITE)
    }
  })
}

/** For docs/reference/java-parity.md. */
function report(by: Side, waiting: string, took: number): void {
  console.log(`        step-down by ${by}: readers of ${waiting} entered after ${Math.round(took)} ms`)
}
