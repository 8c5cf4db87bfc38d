import { expect } from 'chai'
import { rejection, timed, uniqueName } from '../../test/kit/clients'
import { REDISSON_VERSIONS } from '../../test/kit/java'
import { PublishedMessages } from '../support/keyspace'
import { type LockThread, READ, type Side, saysNotHeld, WRITE } from '../support/lock-peer'
import { readWriteChannelOf, type World } from '../support/world'

const LONG = 20_000
const BOTH = ['Java', 'Node'] as const

/** Where a read-write lock of ours differs from Java's. docs/reference/java-parity.md lists them; here each is pinned from both sides. */
export function readWriteDifferenceTests(world: World): void {
  const thread = (side: Side): LockThread => world[side].thread(uniqueName('thread'))
  const ttl = (name: string) => world.redis.pttl(name)
  const readTimeouts = (name: string) => world.redis.keys(`{${name}}:*:rwlock_timeout:*`)

  it('a reader that waits to write waits for itself in Java, and is refused at once in Node', async () => {
    const name = uniqueName()
    const [java, node] = [thread('Java'), thread('Node')]
    await java.lock(name, READ)
    const took = await timed(async () => {
      expect(await java.tryLock(name, { ...WRITE, waitTime: 300 })).to.equal(false)
    })
    expect(took).to.be.greaterThan(290)
    await java.unlock(name, READ)

    await node.lock(name, READ)
    for (const call of [
      () => node.lock(name, WRITE),
      () => node.tryLock(name, { ...WRITE, waitTime: 10_000 }),
    ]) {
      const error = await rejection(call())
      expect(error).to.have.property('code', 'ILLEGAL_MONITOR_STATE')
      expect(error.message).to.contain('would wait for itself')
    }
    expect(await node.tryLock(name, WRITE)).to.equal(false)
    await node.unlock(name, READ)
  })

  it('what a writer reads has a thread id of its own in Node, the same one in Java', async () => {
    for (const [side, distinct] of [
      ['Java', 1],
      ['Node', 2],
    ] as const) {
      const [name, it] = [uniqueName(), thread(side)]
      await it.lock(name, WRITE)
      await it.lock(name, READ)
      const fields = (await world.redis.hkeys(name)).filter((field) => field !== 'mode')
      expect(fields).to.have.length(2)
      expect(new Set(fields.map((field) => field.replace(/:write$/, ''))).size, side).to.equal(distinct)
      await it.unlock(name, READ)
      await it.unlock(name, WRITE)
    }
  })

  it('A read release within a write hold can shorten the key in Java, not in Node', async () => {
    for (const [side, expected] of [
      ['Java', 5_000],
      ['Node', LONG],
    ] as const) {
      const [name, it] = [uniqueName(), thread(side)]
      await it.lock(name, { ...WRITE, leaseTime: LONG })
      await it.lock(name, { ...READ, leaseTime: 5_000 })
      await it.lock(name, { ...READ, leaseTime: 5_000 })
      await it.unlock(name, READ)
      expect(await ttl(name), side).to.be.within(expected - 500, expected)
      await it.unlock(name, READ)
      await it.unlock(name, WRITE)
    }
  })

  it('a partial write release can cut the key below a longer read lease in Java, not in Node', async () => {
    for (const [side, expected] of [
      ['Java', 5_000],
      ['Node', LONG],
    ] as const) {
      const [name, it] = [uniqueName(), thread(side)]
      await it.lock(name, { ...WRITE, leaseTime: 5_000 })
      await it.lock(name, { ...WRITE, leaseTime: 5_000 })
      await it.lock(name, { ...READ, leaseTime: LONG })
      await it.unlock(name, WRITE)
      expect(await ttl(name), side).to.be.within(expected - 500, expected)
      await it.unlock(name, WRITE)
      await it.unlock(name, READ)
    }
  })

  it('A forced release leaves read timeout keys to the TTL in Java, deletes them in Node', async () => {
    for (const [forcer, left] of [
      ['Java', 3],
      ['Node', 0],
    ] as const) {
      const name = uniqueName()
      await thread('Java').lock(name, { ...READ, leaseTime: 1_000 })
      const node = thread('Node')
      await node.lock(name, { ...READ, leaseTime: 1_000 })
      await node.lock(name, { ...READ, leaseTime: 1_000 })
      expect(await thread(forcer).forceUnlock(name, READ)).to.equal(true)
      expect(await readTimeouts(name), forcer).to.have.length(left)
      // No caller is kept out by them.
      for (const side of BOTH) {
        const writer = thread(side)
        expect(await writer.tryLock(name, WRITE)).to.equal(true)
        await writer.unlock(name, WRITE)
      }
    }
  })

  it('forcing the read side of a writer does nothing in Java, and ends what it reads in Node', async () => {
    for (const [forcer, answer, fields] of [
      ['Java', false, 3],
      ['Node', true, 2],
    ] as const) {
      for (const holder of BOTH) {
        const [name, writer] = [uniqueName(), thread(holder)]
        await writer.lock(name, WRITE)
        await writer.lock(name, READ)
        expect(await thread(forcer).forceUnlock(name, READ)).to.equal(answer)
        expect(await world.redis.hlen(name)).to.equal(fields)
        expect(await writer.getHoldCount(name, WRITE)).to.equal(1)
        const reading = writer.unlock(name, READ)
        if (answer) expect(await rejection(reading)).to.satisfy(saysNotHeld)
        else await reading
        await writer.unlock(name, WRITE)
        expect(await world.redis.exists(name)).to.equal(0)
      }
    }
  })

  it('the read side of a writer that reads is locked for every caller of both languages', async () => {
    for (const holder of BOTH) {
      const [name, writer] = [uniqueName(), thread(holder)]
      await writer.lock(name, WRITE)
      for (const asked of BOTH) expect(await thread(asked).isLocked(name, READ)).to.equal(false)
      await writer.lock(name, READ)
      for (const asked of BOTH) {
        const expected = !(asked === 'Java' && world.version === REDISSON_VERSIONS.oldest)
        // The oldest sees only the mode.
        expect(await thread(asked).isLocked(name, READ), `${asked} of ${holder}`).to.equal(expected)
        expect(await thread(asked).isLocked(name, WRITE)).to.equal(true)
      }
      await writer.unlock(name, READ)
      await writer.unlock(name, WRITE)
    }
  })

  // 3.16.8 says nothing; 4.7.0 says so, but tells the waiters all the same. Ours sends nothing.
  it('a release of what is not held is an error in Node, in silence and with a message', async () => {
    const messages = await PublishedMessages.listen(world.server.url)
    try {
      for (const [side, message] of [
        [READ, '0'],
        [WRITE, '1'],
      ] as const) {
        const name = uniqueName()
        const releasing = thread('Java').unlock(name, side)
        if (world.version === REDISSON_VERSIONS.oldest) await releasing
        else expect(await rejection(releasing)).to.satisfy(saysNotHeld)
        expect(await messages.take()).to.deep.equal([[readWriteChannelOf(name), message]])
        expect(await rejection(thread('Node').unlock(name, side))).to.satisfy(saysNotHeld)
        expect(await messages.take()).to.deep.equal([])
      }
    } finally {
      messages.close()
    }
  })

  it("a plain lock's key is walked over by Java and is a WrongTypeError in Node", async () => {
    const name = uniqueName()
    const [java, node] = [thread('Java'), thread('Node')]
    await node.lock(name)
    expect(await rejection(node.tryLock(name, READ))).to.have.property('code', 'WRONG_TYPE')
    expect(await rejection(node.tryLock(name, WRITE))).to.have.property('code', 'WRONG_TYPE')
    expect(await java.tryLock(name, WRITE)).to.equal(true)
    expect(await world.redis.hlen(name)).to.equal(3)
    await world.redis.del(name)
    await node.unlock(name).catch(() => {})
  })
}
