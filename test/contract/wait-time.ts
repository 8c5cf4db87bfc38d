import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { rejection, timed } from '../kit/clients'
import { openProxy } from '../kit/proxies'
import { waitUntil } from '../kit/servers/index'
import { ScriptCounter, tapped } from '../kit/tapped-transport'
import type { Primitive } from './primitive'
import { sceneOf } from './scene'

/** No test waits for this lease: a waiter that acquires was woken. */
const LEASE = 60_000
const PROMPTLY = 5_000

/** How waiters of a primitive wait, and for how long: rows A7 to A13 of docs/internals/failure-modes.md. */
export function waitTimeSuite(primitive: Primitive) {
  const a = primitive.name
  const ACQUIRE = primitive.scripts.acquire

  describe(`Waiting for a ${a}`, () => {
    const scene = sceneOf(primitive)

    it(`A ${a} is not held after tryLock() false, though granted late (A7)`, async () => {
      await scene.blocker.take(LEASE)
      // The woken attempt is in flight when the wait ends, and the server answers it far too late.
      const redisson = await scene.withAttempt(3, (sent) => sleep(2_000).then(sent.pass))
      const lock = scene.lockOf(redisson)
      const trying = lock.tryLock(500)
      await scene.asleep(redisson)
      await scene.blocker.release()
      expect(await trying).to.equal(false)
      expect(await lock.isHeldByCurrentThread()).to.equal(false)
      const isFree = async () => redisson.attempts() === 3 && !(await scene.redis.exists(scene.name))
      await waitUntil('the late grant was released', isFree)
      // Longer than the late grant needs: the lock is not taken after its release.
      await sleep(1_500)
      await primitive.expectNothingLeft(scene.redis, scene.name)
    })

    it(`A slow round trip does not turn a short wait for a ${a} into no try at all (A7)`, async () => {
      const proxy = await openProxy(scene.server)
      const redisson = await scene.open({}, undefined, proxy.url)
      proxy.delay(100)
      expect(await scene.lockOf(redisson).tryLock(20)).to.equal(true)
    })

    it(`A request for a ${a} that is aborted as it is granted is released and not renewed (A8)`, async () => {
      const aborted = new AbortController()
      const transport = tapped(async (sent) => {
        const answer = await sent.pass()
        if (sent.name === ACQUIRE && !sent.bySource) aborted.abort(new Error('enough'))
        return answer
      })
      const lock = scene.lockOf(await scene.open({ transport }, 600))
      expect((await rejection(lock.lock({ signal: aborted.signal }))).message).to.equal('enough')
      await waitUntil('it was released', async () => !(await scene.redis.exists(scene.name)), 400, 5)
      await primitive.expectNothingLeft(scene.redis, scene.name)
    })

    it(`A wait for a ${a} beyond what a timer can hold sleeps (A9)`, async () => {
      await scene.blocker.take(LEASE)
      const scripts = new ScriptCounter()
      const lock = scene.lockOf(await scene.open({ transport: scripts.transport }))
      const lengths = [2 ** 31, 2 ** 32 + 5, 2 ** 45, Number.MAX_SAFE_INTEGER]
      const waiting = lengths.map((waitTime) => lock.tryAcquire({ waitTime }))
      await scene.waits()
      await sleep(300)
      expect(scripts.of(ACQUIRE)).to.be.at.most(primitive.waitersListening ? 2 * lengths.length : 2)
      await scene.blocker.release()
      for (const each of waiting) await (await each)!.unlock()
    })

    it(`A lease of a ${a} beyond what a timer can hold is held and slept through (A9)`, async () => {
      const lease = 2 ** 32
      const scripts = new ScriptCounter()
      const lock = scene.lockOf(await scene.open({ transport: scripts.transport }))
      const hold = await lock.acquire({ leaseTime: lease })
      const { signal } = hold
      const waiting = lock.acquire()
      await sleep(300)
      expect(hold.isHeld).to.equal(true)
      expect(signal.aborted).to.equal(false)
      expect(scripts.of(ACQUIRE)).to.be.at.most(3)
      expect(await lock.remainTimeToLive()).to.be.within(lease - 60_000, lease)
      await hold.unlock()
      await (await waiting).unlock()
    })

    it(`A waiter for a ${a} without expiry is woken, and does not spin (A10)`, async () => {
      await scene.blocker.take()
      const scripts = new ScriptCounter()
      const waiting = scene.lockOf(await scene.open({ transport: scripts.transport })).acquire()
      await scene.waits()
      await sleep(500)
      expect(scripts.of(ACQUIRE)).to.be.at.most(2)
      await scene.blocker.release()
      expect(await timed(() => waiting)).to.be.lessThan(PROMPTLY)
    })

    it(`A waiter for a ${a} whose key has no expiry tries again after a watchdog timeout (A10)`, async () => {
      await scene.blocker.take()
      const waiting = scene.lockOf(await scene.open({}, 800)).acquire()
      await scene.waits()
      await sleep(100)
      await scene.blocker.vanish()
      expect(await timed(() => waiting)).to.be.lessThan(PROMPTLY)
    })

    it(`A waiter for a ${a} whose key loses its expiry (PERSIST) is woken by the message (A10)`, async () => {
      await scene.blocker.take(600)
      const waiting = scene.lockOf(await scene.open()).acquire()
      await scene.redis.persist(scene.name)
      await sleep(1_000)
      await scene.blocker.release()
      expect(await timed(() => waiting)).to.be.lessThan(PROMPTLY)
    })

    // Where each waiter has a channel of its own, each is notified by itself.
    if (primitive.waitersListening) return

    it(`100 waiters for a ${a} try once a message, and listen once (A12, A13)`, async () => {
      const warnings: string[] = []
      const warn = (warning: Error) => warnings.push(warning.name)
      process.on('warning', warn)
      try {
        await scene.blocker.take(LEASE)
        const scripts = new ScriptCounter()
        const lock = scene.lockOf(await scene.open({ transport: scripts.transport }))
        const { signal } = new AbortController()
        const crowd = Array.from({ length: 100 }, () => lock.acquire({ signal }))
        await scene.waits()
        await sleep(200)
        const before = scripts.of(ACQUIRE)
        for (let message = 1; message <= 10; message++) {
          await scene.redis.publish(primitive.channel(scene.name), message % 2 ? '0' : '1')
          await waitUntil('the first waiter tries', () => scripts.of(ACQUIRE) >= before + message)
        }
        await sleep(200)
        expect(scripts.of(ACQUIRE) - before).to.equal(10)
        await scene.blocker.release()
        if (primitive.shared) expect(await Promise.all(crowd)).to.have.length(100)
        for (const acquiring of crowd) await (await acquiring).unlock()
        await primitive.expectNothingLeft(scene.redis, scene.name)
        expect(warnings).to.deep.equal([])
      } finally {
        process.off('warning', warn)
      }
    })
  })
}
