import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { ClientInternals } from '../../src/client/client-internals'
import { BrokenConnection } from '../../src/redis/send/fences'
import { openRedis, rejection, timed } from '../kit/clients'
import { openProxy } from '../kit/proxies'
import { waitUntil } from '../kit/servers/index'
import { latch, type ScriptSent } from '../kit/tapped-transport'
import type { Primitive } from './primitive'
import { sceneOf } from './scene'

/** No test waits for this lease: a waiter that acquires was woken. */
const LEASE = 60_000
const PROMPTLY = 5_000

/** What wakes the waiters of a primitive: rows A1 to A6 of docs/internals/failure-modes.md. */
export function wakeUpSuite(primitive: Primitive) {
  const a = primitive.name

  describe(`Waking the waiters for a ${a}`, () => {
    const scene = sceneOf(primitive)

    it(`A waiter for a ${a} does not miss a release right after its failed first attempt (A1)`, async () => {
      await scene.blocker.take(LEASE)
      const redisson = await scene.withAttempt(1, async (sent) => {
        const answer = await sent.pass()
        await scene.blocker.release()
        return answer
      })
      expect(await timed(() => scene.lockOf(redisson).lock())).to.be.lessThan(PROMPTLY)
    })

    it(`A waiter for a ${a} does not miss a release while its subscription is in flight (A1)`, async () => {
      await scene.blocker.take(LEASE)
      const proxy = await openProxy(scene.server)
      const late = async (sent: ScriptSent) => {
        const answer = await sent.pass()
        // The SUBSCRIBE that follows arrives after the release, which nothing delays.
        proxy.delay(400)
        setImmediate(() => void scene.blocker.release())
        return answer
      }
      const redisson = await scene.withAttempt(1, late, proxy.url)
      expect(await timed(() => scene.lockOf(redisson).lock())).to.be.lessThan(PROMPTLY)
    })

    it(`A waiter for a ${a} misses no message between try and sleep (A1)`, async () => {
      await scene.blocker.take(LEASE)
      const redisson = await scene.withAttempt(2, async (sent) => {
        const answer = await sent.pass()
        await scene.blocker.release()
        // The message is here before the answer to the attempt, which says "held".
        await sleep(200)
        return answer
      })
      expect(await timed(() => scene.lockOf(redisson).lock())).to.be.lessThan(PROMPTLY)
    })

    for (const [when, abortedFirst] of [
      ['just before its try is sent', true],
      ['just as its attempt is granted', false],
    ] as const)
      it(`A waiter for a ${a} woken and aborted ${when} wakes the next (A2)`, async () => {
        await scene.blocker.take(LEASE)
        const abort = new AbortController()
        const woken = latch()
        const answered = latch()
        // The third attempt is the woken one: the first two failed before and after the subscription.
        const redisson = await scene.withAttempt(3, async (sent) => {
          const granted = abortedFirst ? undefined : await sent.pass()
          woken.open()
          abort.abort(new Error('enough'))
          await sleep(50)
          const answer = abortedFirst ? await sent.pass() : granted
          answered.open()
          return answer
        })
        const lock = scene.lockOf(redisson)
        const first = rejection(lock.lock({ signal: abort.signal, threadId: 1 }))
        const second = lock.lock({ threadId: 2 })
        await scene.asleep(redisson)
        await scene.blocker.release()
        await woken.opened
        expect(await timed(() => second)).to.be.lessThan(PROMPTLY)
        expect((await first).message).to.equal('enough')
        expect(await lock.isHeldByThread(1)).to.equal(false)
        // Else the late attempt may find the lock free after the second has released it.
        await answered.opened
        const others = async () => Object.keys(await primitive.holds(scene.redis, scene.name)).length
        await waitUntil('the grant of the aborted waiter is released', async () => (await others()) === 1)
        await lock.unlock({ threadId: 2 })
        // The attempt of the aborted waiter may reach the server after this release: it is released then.
        await waitUntil('nothing is left', async () => (await others()) === 0)
        await primitive.expectNothingLeft(scene.redis, scene.name)
      })

    it(`A waiter for a ${a} whose wait ends when woken wakes others (A2)`, async () => {
      await scene.blocker.take(LEASE)
      const redisson = await scene.withAttempt(3, async (sent) => {
        const answer = await sent.pass()
        expect(answer, 'granted').to.not.be.a('number')
        // Later than the wait and the grace for a slow round trip.
        await sleep(2_000)
        return answer
      })
      const first = scene.lockOf(redisson).tryLock(600)
      await scene.asleep(redisson)
      await scene.blocker.release()
      await sleep(50)
      const second = scene.lockOf(await scene.open()).acquire({ leaseTime: LEASE })
      expect(await first).to.equal(false)
      expect(await timed(() => second)).to.be.lessThan(PROMPTLY)
    })

    it(`Of waiters for a ${a} that leave when woken, one is served (A2)`, async () => {
      await scene.blocker.take(LEASE)
      const lock = scene.lockOf(await scene.open())
      const leaving = new AbortController()
      const left = Array.from({ length: 20 }, () => lock.lock({ signal: leaving.signal }).catch(() => 'left'))
      const staying = lock.acquire()
      await scene.waits()
      await Promise.all([scene.blocker.release(), leaving.abort()])
      expect(await timed(() => staying)).to.be.lessThan(PROMPTLY)
      expect(new Set(await Promise.all(left))).to.deep.equal(new Set(['left']))
    })

    it(`A waiter for a ${a} that leaves does not silence the others (A3)`, async () => {
      await scene.blocker.take(LEASE)
      const redisson = await scene.open()
      const staying = scene.lockOf(redisson).acquire()
      expect(await scene.lockOf(redisson).tryLock(100)).to.equal(false)
      // Longer than an unused subscription lingers.
      await sleep(1_500)
      await scene.blocker.release()
      expect(await timed(() => staying)).to.be.lessThan(PROMPTLY)
    })

    it(`A waiter for a ${a} that joins while its channel is being unsubscribed is woken (A3)`, async () => {
      await scene.blocker.take(LEASE)
      const proxy = await openProxy(scene.server)
      const direct = await openRedis(scene.server.url)
      // Only the subscriber's way leads through the proxy: attempts are faster than the unsubscription.
      const transport: ClientInternals['transport'] = () => ({
        lastBroken: new BrokenConnection(''),
        serverOf: () => '',
        state: 'ready',
        send({ script: { source }, keys, args }, _, answered, failed) {
          direct.eval(source, keys.length, ...keys, ...args).then((value) => answered(value), failed)
        },
        probe() {},
      })
      const lock = scene.lockOf(await scene.open({ transport }, undefined, proxy.url))
      expect(await lock.tryLock(100)).to.equal(false)
      proxy.delay(300)
      await waitUntil('the server unsubscribed it', async () => (await scene.listening()) === 0, 10_000, 5)
      // The confirmation is still on its way back.
      const joining = lock.acquire()
      await scene.waits()
      await scene.blocker.release()
      expect(await timed(() => joining)).to.be.lessThan(PROMPTLY)
    })

    it(`The channel of a ${a} is unsubscribed once the last waiter has gone (A4)`, async () => {
      await scene.blocker.take(LEASE)
      const lock = scene.lockOf(await scene.open())
      const waiting = [1, 2, 3].map((threadId) => lock.tryLock({ threadId, waitTime: 150 }))
      await scene.waits()
      expect(await Promise.all(waiting)).to.deep.equal([false, false, false])
      await waitUntil('it is unsubscribed', async () => (await scene.listening()) === 0, 5_000)
    })

    it(`A release of a ${a} without a subscriber wakes when it is back (A5)`, async () => {
      await scene.blocker.take(LEASE)
      const waiting = scene.lockOf(await scene.open()).acquire()
      await scene.waits()
      await sleep(100)
      // In one transaction: the message finds no listener.
      const replies = (await scene.redis
        .multi()
        .call('CLIENT', 'KILL', 'TYPE', 'pubsub')
        .del(scene.name)
        .publish(primitive.channel(scene.name), '0')
        .exec()) as [null, unknown][]
      expect(replies[2]![1]).to.equal(0)
      expect(await timed(() => waiting)).to.be.lessThan(PROMPTLY)
    })

    it(`A release of a ${a} without connections wakes when they are back (A5)`, async () => {
      await scene.blocker.take(LEASE)
      const proxy = await openProxy(scene.server)
      const waiting = scene.lockOf(await scene.open({}, undefined, proxy.url)).acquire()
      await scene.waits()
      await sleep(100)
      proxy.breakOff()
      await waitUntil('the subscriber is gone', async () => (await scene.listening()) === 0)
      await scene.blocker.release()
      await sleep(300)
      await proxy.accept()
      expect(await timed(() => waiting)).to.be.lessThan(PROMPTLY)
    })

    it(`A waiter for a ${a} acquires when a dead holder's lease ends (A6)`, async () => {
      const lock = scene.lockOf(await scene.open())
      const acquiring = async () => {
        await scene.blocker.take(700)
        await lock.lock()
      }
      expect(await timed(acquiring)).to.be.within(700, 2_900)
    })

    it(`A forced release of a ${a} wakes the waiters of other clients (A1, C5)`, async () => {
      await scene.lockOf(await scene.open()).lock()
      const other = await scene.open()
      // For a shared primitive a writer is kept out, for it is what another owner keeps out.
      const waiting = primitive.shared
        ? other.getReadWriteLock(scene.name).writeLock().tryLock(10_000)
        : scene.lockOf(other).tryLock(10_000)
      await scene.waits()
      expect(await scene.lockOf(other).forceUnlock()).to.equal(true)
      expect(await timed(async () => expect(await waiting).to.equal(true))).to.be.lessThan(PROMPTLY)
    })
  })
}
