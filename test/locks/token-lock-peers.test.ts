import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { Redisson } from '../../src/index'
import { createRedisson, rejection, timed, uniqueName } from '../kit/clients'
import { clientAndRedis, redis, redisson } from '../kit/each-test'
import { sharedStandalone } from '../kit/servers/index'
import { TOKEN_LIBRARIES, type TokenPeer } from '../kit/token-lock-peers'

// docs/guides/token-lock.md shows the step from such a library to the token lock: both exclude each other meanwhile.
const LEASE = 60_000
const PROMPTLY = 5_000

for (const library of TOKEN_LIBRARIES) {
  const their = library.name

  describe(`A token lock beside ${their}`, () => {
    let peer: TokenPeer
    /** As the peer calls it, and as we do. */
    let theirKey: string
    let key: string

    before(async function () {
      // A peer of another language is built before its first use.
      this.timeout(180_000)
      const reason = await library.absent?.()
      if (!reason) return
      process.stderr.write(`Pending: a token lock beside ${their} (${reason})\n`)
      this.skip()
    })
    clientAndRedis()
    beforeEach(async () => {
      peer = await library.open((await sharedStandalone()).url)
      theirKey = uniqueName('beside')
      key = library.prefix + theirKey
    })
    afterEach(() => peer?.close())

    it(`What ${their} holds is held for a token lock, which gets it soon after its release`, async () => {
      const theirs = await peer.acquire(theirKey, LEASE)
      const lock = redisson.getTokenLock(key)
      expect(await lock.isLocked()).to.equal(true)
      expect(await lock.tryLock()).to.equal(false)
      expect(await lock.tryLock(50)).to.equal(false)
      const waiting = lock.acquire()
      await sleep(100)
      await theirs.release()
      expect(await timed(async () => (await waiting).unlock())).to.be.lessThan(PROMPTLY)
      expect(await redis.exists(key)).to.equal(0)
    })

    it(`What a token lock holds is held for ${their}, which gets it after unlock()`, async () => {
      const lock = redisson.getTokenLock(key)
      const hold = await lock.acquire()
      expect(await peer.tryAcquire(theirKey, LEASE)).to.equal(undefined)
      const waiting = peer.acquire(theirKey, LEASE)
      await sleep(100)
      await hold.unlock()
      const theirs = await waiting
      expect(await lock.tryLock()).to.equal(false)
      await theirs.extend?.(LEASE)
      await theirs.release()
      expect(await lock.tryLock()).to.equal(true)
      await lock.unlock()
    })

    it(`A token lock that ${their} took over is lost, and neither prolongs the other's (K2)`, async () => {
      const lock = redisson.getTokenLock(key)
      await lock.lock({ threadId: 1 })
      // As an eviction would.
      await redis.del(key)
      const theirs = await peer.acquire(theirKey, LEASE)
      const value = await redis.get(key)
      expect((await rejection(lock.unlock({ threadId: 1 }))).code).to.equal('LOCK_LOST')
      expect(await redis.get(key)).to.equal(value)
      await redis.del(key)
      const hold = await lock.acquire({ leaseTime: LEASE })
      const token = await redis.get(key)
      // Some libraries reject, some say nothing.
      await theirs.release().catch(() => {})
      await theirs.extend?.(1_000).catch(() => {})
      expect(await redis.get(key)).to.equal(token)
      expect(await redis.pttl(key)).to.be.greaterThan(LEASE - 20_000)
      await hold.unlock()
    })

    it(`Callers of a token lock and of ${their} on one key take turns, one inside at a time`, async () => {
      const sections = 8
      let inside = 0
      let most = 0
      const section = async () => {
        most = Math.max(most, ++inside)
        await sleep(2)
        inside--
      }
      const other = await createRedisson()
      const ours = async (client: Redisson) => {
        for (let turn = 0; turn < sections; turn++) {
          await client.getTokenLock(key).withLock(section)
          await sleep(5)
        }
      }
      const theirs = async () => {
        for (let turn = 0; turn < sections; turn++) {
          const hold = await peer.acquire(theirKey, LEASE)
          await section()
          await hold.release()
          await sleep(5)
        }
      }
      await Promise.all([ours(redisson), ours(redisson), ours(other), theirs(), theirs()])
      expect(most).to.equal(1)
      expect(await redis.exists(key)).to.equal(0)
    })
  })
}
