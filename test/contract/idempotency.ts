import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { Redis } from 'ioredis'
import type { Redisson, RLock } from '../../src/index'
import { createRedisson, openRedis, rejection, uniqueName } from '../kit/clients'
import { openProxy } from '../kit/proxies'
import { type TcpProxy, waitUntil } from '../kit/servers/index'
import { tapped } from '../kit/tapped-transport'
import { counts, type Primitive } from './primitive'
import { sceneOf } from './scene'

interface Copy {
  readonly name: string
  readonly send: () => Promise<unknown>
}

/** Commands that run twice, late or out of order: rows C1 and C2 of docs/internals/failure-modes.md, and guarantee 4. */
export function idempotencySuite(primitive: Primitive) {
  const a = primitive.name

  describe(`Commands of a ${a} that are sent again`, () => {
    const scene = sceneOf(primitive)
    let redis: Redis
    let proxy: TcpProxy
    let name: string

    beforeEach(async () => {
      ;({ redis, name } = scene)
      proxy = await openProxy(scene.server)
    })

    const lockOf = (redisson: Redisson): RLock => primitive.create(redisson, name)
    const holdCounts = () => counts(primitive, redis, name)
    const gone = () => primitive.expectNothingLeft(redis, name)

    /** A client behind the proxy whose scripts the server knows already: a lost NOSCRIPT would prove nothing. */
    async function clientBehindProxy() {
      const redisson = await createRedisson({ redis: proxy.url })
      const lock = primitive.create(redisson, uniqueName())
      await redisson.run(async () => {
        await lock.lock()
        await lock.lock()
        await lock.unlock()
        await lock.unlock()
      })
      return redisson
    }

    const aboutTheLock = (words: readonly string[]) => words[0] === 'evalsha' && words.includes(name)

    /** Does it while the first reply about the lock is lost with its connection. */
    async function losingReply<T>(operation: () => Promise<T>): Promise<T> {
      const dropped = proxy.dropNextReply(aboutTheLock)
      const done = operation()
      await dropped
      return await done
    }

    it(`A release of a ${a} whose reply is lost is answered like the first one (C1)`, async () => {
      const lock = lockOf(await clientBehindProxy())
      await lock.lock()
      await losingReply(() => lock.unlock())
      await gone()
    })

    it(`A partial release of a ${a} whose reply is lost takes one level off, not two (C1)`, async () => {
      const redisson = await clientBehindProxy()
      const lock = lockOf(redisson)
      await redisson.run(async () => {
        for (let level = 0; level < 3; level++) await lock.lock()
        await losingReply(() => lock.unlock())
        expect(await lock.getHoldCount()).to.equal(2)
        expect(await holdCounts()).to.deep.equal([2])
        await lock.unlock()
        await lock.unlock()
      })
      await gone()
    })

    it(`A resent release of a ${a} does not release the next owner (C1)`, async () => {
      const lock = lockOf(await clientBehindProxy())
      await lock.lock()
      const other = await createRedisson({ redis: scene.server.url })
      const waiting = primitive.shared ? undefined : lockOf(other).acquire()
      const dropped = proxy.dropNextReply(aboutTheLock)
      proxy.refuse()
      const unlocking = lock.unlock()
      await dropped
      const next = await (waiting ?? lockOf(other).acquire())
      await proxy.accept()
      await unlocking
      expect(await primitive.holds(redis, name)).to.deep.equal({
        [primitive.ownerField(other.getId(), next.threadId)]: 1,
      })
      await next.unlock()
    })

    it(`An acquisition of a ${a} whose reply is lost counts once (C2)`, async () => {
      const lock = lockOf(await clientBehindProxy())
      await losingReply(() => lock.lock())
      expect(await holdCounts()).to.deep.equal([1])
      await lock.unlock()
      await gone()
    })

    it(`A re-entry of a ${a} whose reply is lost counts once (C2)`, async () => {
      const redisson = await clientBehindProxy()
      const lock = lockOf(redisson)
      await redisson.run(async () => {
        await lock.lock()
        await losingReply(() => lock.lock())
        expect(await holdCounts()).to.deep.equal([2])
        expect(await losingReply(() => lock.tryLock())).to.equal(true)
        expect(await holdCounts()).to.deep.equal([3])
        for (let level = 0; level < 3; level++) await lock.unlock()
      })
      await gone()
    })

    it(`A ${a} that is acquired for an aborted call by a resent command is released`, async () => {
      const redisson = await clientBehindProxy()
      const abort = new AbortController()
      const dropped = proxy.dropNextReply(aboutTheLock)
      proxy.refuse()
      const acquiring = rejection(lockOf(redisson).lock({ signal: abort.signal }))
      await dropped
      abort.abort(new Error('too slow'))
      expect((await acquiring).message).to.equal('too slow')
      expect(await redis.exists(name)).to.equal(1)
      await proxy.accept()
      await waitUntil('it is released', async () => (await redis.exists(name)) === 0)
    })

    it(`A re-entry of a ${a} in flight that is aborted leaves the count as it was (A8)`, async () => {
      const redisson = await clientBehindProxy()
      const lock = lockOf(redisson)
      await redisson.run(async () => {
        await lock.lock()
        const controller = new AbortController()
        proxy.stallReplies()
        const rejected = rejection(lock.lock({ signal: controller.signal }))
        await waitUntil('the server has counted it', async () => (await holdCounts())[0] === 2)
        controller.abort(new Error('enough'))
        expect((await rejected).message).to.equal('enough')
        proxy.resume()
        await lock.unlock()
      })
      await gone()
    })

    it(`Every script of a ${a} can run twice in a row with the effect of one run (guarantee 4)`, async () => {
      const transport = tapped(async (sent) => {
        const answer = await sent.pass()
        await sent.pass()
        return answer
      })
      const lock = lockOf(
        await createRedisson({ redis: scene.server.url, lockWatchdogTimeout: 900 }, { transport }),
      )
      const who = { threadId: 1 }
      await lock.lock(who)
      await lock.lock(who)
      expect(await holdCounts()).to.deep.equal([2])
      expect(await redis.pttl(name), 'the lease was added once').to.be.at.most(1_800)
      await lock.unlock(who)
      expect(await holdCounts()).to.deep.equal([1])
      await lock.unlock(who)
      await gone()
      await lock.lock(who)
      expect(await lock.forceUnlock()).to.equal(true)
      await gone()
    })

    it(`Scripts of a ${a} that the server forgot are sent again with their source (D1)`, async () => {
      const lock = lockOf(await createRedisson({ redis: scene.server.url }))
      const who = { threadId: 1 }
      for (const step of [
        () => lock.lock(who),
        () => lock.lock(who),
        () => lock.unlock(who),
        () => lock.unlock(who),
        () => lock.isLocked(),
        () => lock.lock({ threadId: 2 }),
        () => lock.forceUnlock(),
      ] as (() => Promise<unknown>)[]) {
        await redis.script('FLUSH')
        await step()
      }
      await gone()
    })

    /** A client that keeps a second copy of everything it sends. */
    async function copying() {
      const copies: Copy[] = []
      const transport = tapped((sent) => {
        if (!sent.bySource) copies.push({ name: sent.name, send: sent.pass })
        return sent.pass()
      })
      const redisson = await createRedisson({ redis: scene.server.url }, { transport })
      await redisson.run(() => primitive.create(redisson, uniqueName()).withLock(() => {}))
      copies.length = 0
      return { redisson, copies }
    }

    it(`Late copies change nothing of another client's hold of a ${a} (guarantee 4)`, async () => {
      const { redisson, copies } = await copying()
      const lock = lockOf(redisson)
      await redisson.run(async () => {
        await lock.lock(20_000)
        await lock.lock()
        await lock.unlock()
        await lock.unlock()
      })
      const { acquire, reenter, release } = primitive.scripts
      expect(copies.map((copy) => copy.name)).to.include.members([acquire, reenter, release])
      await primitive.blocker(redis, name).take(60_000)
      const before = await redis.hgetall(name)
      let messages = 0
      const listener = await openRedis(scene.server.url)
      await listener.subscribe(primitive.channel(name))
      listener.on('message', () => messages++)
      const old = copies.slice()
      for (const { send } of old) await send()
      for (const { send } of old.reverse()) await send()
      expect(await redis.hgetall(name)).to.deep.equal(before)
      expect(await redis.pttl(name)).to.be.greaterThan(50_000)
      await sleep(50)
      expect(messages).to.equal(0)
    })

    it(`Late copies change nothing of a newer hold of the same caller of a ${a}`, async () => {
      const { redisson, copies } = await copying()
      const lock = lockOf(redisson)
      const who = { threadId: 1 }
      await lock.lock(who)
      await lock.lock(who)
      await lock.unlock(who)
      await lock.unlock(who)
      await lock.lock({ threadId: 2 })
      await lock.forceUnlock()
      const old = copies.splice(0).filter((copy) => copy.name !== primitive.scripts.acquire)
      await lock.lock(who)
      const before = await primitive.holds(redis, name)
      for (const { send } of [...old, ...old.reverse()]) await send()
      expect(await primitive.holds(redis, name)).to.deep.equal(before)
      expect(await lock.isHeldByThread(1)).to.equal(true)
      await lock.unlock(who)
      await gone()
    })

    it(`A late partial release of a ${a} shortens no lease of a newer level`, async () => {
      const { redisson, copies } = await copying()
      const lock = lockOf(redisson)
      await redisson.run(async () => {
        await lock.lock(20_000)
        // The same lease twice: only time tells the copy's level from the newer one.
        await lock.lock(60_000)
        await lock.unlock()
        const late = copies.find((copy) => copy.name.endsWith('release'))!
        await sleep(200)
        await lock.lock(60_000)
        await late.send()
        expect(await redis.pttl(name)).to.be.greaterThan(50_000)
        await lock.unlock()
        // Longer than the copy's lease, shorter than the one the copy had seen.
        await lock.lock(30_000)
        await late.send()
        expect(await redis.pttl(name)).to.be.greaterThan(25_000)
        expect(await lock.getHoldCount()).to.equal(2)
        await lock.unlock()
        expect(await redis.pttl(name)).to.be.at.most(20_000)
        expect(await lock.getHoldCount()).to.equal(1)
        await lock.unlock()
      })
      await gone()
    })
  })
}
