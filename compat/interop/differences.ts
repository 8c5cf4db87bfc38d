import { expect } from 'chai'
import { rejection, uniqueName } from '../../test/kit/clients'
import { REDISSON_VERSIONS } from '../../test/kit/java'
import type { LockThread, Side } from '../support/lock-peer'
import type { World } from '../support/world'

const WATCHDOG_MS = 30_000

/** Where ours differs from Java on purpose. docs/reference/java-parity.md lists them; here each is pinned from both sides. */
export function differenceTests(world: World): void {
  const thread = (side: Side): LockThread => world[side].thread(uniqueName('thread'))
  const ttl = (name: string) => world.redis.pttl(name)

  it('an inner lock with a shorter lease shortens the hold in Java, never in Node', async () => {
    for (const [side, expected] of [
      ['Java', 5_000],
      ['Node', 20_000],
    ] as const) {
      const [name, it] = [uniqueName(), thread(side)]
      await it.lock(name, { leaseTime: 20_000 })
      await it.lock(name, { leaseTime: 5_000 })
      expect(await ttl(name), side).to.be.within(expected - 500, expected)
      await it.forceUnlock(name)
    }
  })

  it("A partial release sets the object's last lease in Java, and what remains in Node", async () => {
    for (const [side, expected] of [
      ['Java', 20_000],
      ['Node', 10_000],
    ] as const) {
      const [name, it] = [uniqueName(), thread(side)]
      await it.lock(name, { leaseTime: 10_000 })
      await it.lock(name, { leaseTime: 20_000 })
      await it.unlock(name)
      expect(await ttl(name), side).to.be.within(expected - 500, expected)
      await it.unlock(name)
    }
  })

  it('an inner lock with a lease cuts a renewed hold down to it in Java, not in Node', async () => {
    for (const [side, expected] of [
      ['Java', 10_000],
      ['Node', WATCHDOG_MS],
    ] as const) {
      const [name, it] = [uniqueName(), thread(side)]
      await it.lock(name)
      await it.lock(name, { leaseTime: 10_000 })
      expect(await ttl(name), side).to.be.within(expected - 500, expected)
      await it.forceUnlock(name)
    }
  })

  it('a lease of 0 is taken by Java and rejected by Node', async () => {
    const name = uniqueName()
    const java = thread('Java')
    expect(await rejection(thread('Node').lock(name, { leaseTime: 0 }))).to.be.instanceOf(RangeError)
    expect(await ttl(name)).to.equal(-2)
    await java.lock(name, { leaseTime: 0 })
    // The oldest sets a lease of 0 ms: acquired, and gone at once.
    if (world.version === REDISSON_VERSIONS.oldest) expect(await ttl(name)).to.equal(-2)
    else expect(await ttl(name)).to.be.within(WATCHDOG_MS - 500, WATCHDOG_MS)
    await java.forceUnlock(name)
  })

  it('a hold that was taken away is forgotten by Java and must be settled in Node', async () => {
    const name = uniqueName()
    const [java, node] = [thread('Java'), thread('Node')]
    await java.lock(name)
    await node.forceUnlock(name)
    await java.lock(name)
    expect(await java.getHoldCount(name)).to.equal(1)
    await java.unlock(name)

    await node.lock(name)
    await java.forceUnlock(name)
    expect(await rejection(node.lock(name))).to.have.property('code', 'LOCK_LOST')
    expect(await rejection(node.unlock(name))).to.have.property('code', 'LOCK_LOST')
    await node.lock(name)
    expect(await node.getHoldCount(name)).to.equal(1)
    await node.unlock(name)
  })

  it('every hold of one thread has a thread id of its own in Node, the same in Java', async () => {
    for (const [side, distinct] of [
      ['Java', 1],
      ['Node', 3],
    ] as const) {
      const [name, it] = [uniqueName(), thread(side)]
      const fields = new Set<string>()
      for (let round = 0; round < 3; round++) {
        await it.lock(name)
        for (const field of await world.redis.hkeys(name)) fields.add(field)
        await it.unlock(name)
      }
      expect(fields.size, side).to.equal(distinct)
    }
  })
}
