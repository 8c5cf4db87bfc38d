import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { rejection, uniqueName } from '../kit/clients'
import { JumpingClock } from '../kit/jumping-clock'
import { eventsOf } from '../kit/observing'
import { openProxy } from '../kit/proxies'
import { waitUntil } from '../kit/servers/index'
import { NO_USERS, skipInMemory } from '../kit/stand-in'
import { latch, ScriptCounter, tapped } from '../kit/tapped-transport'
import { counts, type Primitive } from './primitive'
import { sceneOf } from './scene'

const WATCHDOG = 900

/** The watchdog of a primitive with leases: rows B1 to B3 and B9 of docs/internals/failure-modes.md. */
export function renewalSuite(primitive: Primitive) {
  const a = primitive.name
  const RENEW = primitive.scripts.renew
  const itReenters = primitive.nonReentrant ? () => {} : it

  describe(`Renewal of a ${a}`, () => {
    const scene = sceneOf(primitive)

    it(`The watchdog keeps a ${a} for many times its lease (B9)`, async () => {
      const hold = await scene.lockOf(await scene.open({}, WATCHDOG)).acquire()
      for (let look = 0; look < 8; look++) {
        await sleep(WATCHDOG / 3)
        expect(hold.isHeld).to.equal(true)
        expect(Math.min(...(await primitive.timesToLive(scene.redis, scene.name)))).to.be.greaterThan(0)
      }
      await hold.unlock()
      await primitive.expectNothingLeft(scene.redis, scene.name)
    })

    it(`The watchdog of a ${a} retries a refused renewal, reported once (B1, B11)`, async function () {
      skipInMemory(this, NO_USERS)
      await scene.redis.call('ACL', 'SETUSER', 'shaky', 'on', '>secret', '~*', '&*', '+@all')
      const url = scene.server.url.replace('redis://', 'redis://shaky:secret@')
      const redisson = await scene.open({}, 3_000, url)
      const failures = eventsOf(redisson, 'renewalFailed')
      const lost = eventsOf(redisson, 'lockLost')
      const hold = await scene.lockOf(redisson).acquire()
      for (let outage = 1; outage <= 2; outage++) {
        await scene.redis.call('ACL', 'SETUSER', 'shaky', '-evalsha')
        await waitUntil('a renewal failed', () => failures.length >= outage)
        // Further tries fail as well before one succeeds.
        await sleep(400)
        expect(failures, 'reported once an outage').to.have.length(outage)
        await scene.redis.call('ACL', 'SETUSER', 'shaky', '+evalsha')
        await waitUntil('it is renewed', async () => (await scene.redis.pttl(scene.name)) > 2_500)
      }
      expect(lost).to.deep.equal([])
      expect(hold.isHeld).to.equal(true)
      const { lockName, threadId, error } = failures[0]!
      expect({ lockName, threadId }).to.deep.equal({ lockName: hold.lockName, threadId: hold.threadId })
      expect((error as Error).message).to.contain('NOPERM')
      await hold.unlock()
    })

    it(`The watchdog of a ${a} retries a renewal that met a transient error (B1)`, async () => {
      let failures = 0
      const transport = tapped((sent) =>
        sent.name === RENEW && failures++ < 1 ? Promise.reject(new Error('LOADING not now')) : sent.pass(),
      )
      const hold = await scene.lockOf(await scene.open({ transport }, WATCHDOG)).acquire()
      await sleep(1.3 * WATCHDOG)
      expect(failures).to.be.greaterThan(1)
      expect(hold.isHeld).to.equal(true)
      await hold.unlock()
    })

    it(`A renewal of a ${a} whose reply is lost with its connection is no loss (B1)`, async () => {
      const proxy = await openProxy(scene.server)
      const redisson = await scene.open({}, 1_800, proxy.url)
      const lost = eventsOf(redisson, 'lockLost')
      const hold = await scene.lockOf(redisson).acquire()
      // The reply to a renewal is lost, and the connection with it.
      await proxy.dropNextReply(([command]) => command === 'evalsha')
      await waitUntil('it is renewed', async () => (await scene.redis.pttl(scene.name)) > 1_500)
      await sleep(1_900)
      expect(hold.isHeld).to.equal(true)
      expect(lost).to.deep.equal([])
      await hold.unlock()
    })

    it(`A ${a} that cannot be renewed is lost at its deadline, no spinning (B1)`, async () => {
      const clock = new JumpingClock()
      const transport = tapped((sent) =>
        sent.name === RENEW ? Promise.reject(new Error('NOPERM not now')) : sent.pass(),
      )
      // Tries every 300 ms from 2 s on; one of them fails shortly before the deadline at 5.4 s.
      const redisson = await scene.open({ clock, transport }, 6_000)
      await scene.lockOf(redisson).acquire()
      const before = clock.timers
      await new Promise<void>((resolve) => redisson.on('lockLost', () => resolve()))
      expect(await scene.redis.pttl(scene.name)).to.be.greaterThan(0)
      expect(clock.timers - before).to.be.lessThan(100)
    })

    it(`Renewal of a ${a} stops at the last unlock() (B2)`, async () => {
      const scripts = new ScriptCounter()
      const lock = scene.lockOf(await scene.open({ transport: scripts.transport }, WATCHDOG))
      await lock.lock({ threadId: 1 })
      if (!primitive.nonReentrant) await lock.lock({ threadId: 1, leaseTime: 10_000 })
      await waitUntil('it was renewed', () => scripts.of(RENEW) > 0)
      if (!primitive.nonReentrant) await lock.unlock({ threadId: 1 })
      await lock.unlock({ threadId: 1 })
      await primitive.expectNothingLeft(scene.redis, scene.name)
      // Another client's lock of that name must run out.
      await primitive.blocker(scene.redis, scene.name).take(WATCHDOG)
      const renewals = scripts.of(RENEW)
      await waitUntil('it has run out', async () => (await scene.redis.exists(scene.name)) === 0, 3_000)
      expect(scripts.of(RENEW)).to.equal(renewals)
    })

    it(`A renewal of a ${a} in flight at the last unlock() recreates nothing (B2)`, async () => {
      let renewals = 0
      const [unlocked, inFlight] = [latch(), latch()]
      const transport = tapped((sent) => {
        if (sent.name !== RENEW || sent.bySource) return sent.pass()
        renewals++
        inFlight.open()
        return unlocked.opened.then(sent.pass)
      })
      const redisson = await scene.open({ transport }, WATCHDOG)
      const hold = await scene.lockOf(redisson).acquire()
      const lost = eventsOf(redisson, 'lockLost')
      await inFlight.opened
      await hold.unlock()
      unlocked.open()
      await sleep(WATCHDOG)
      expect(renewals).to.equal(1)
      await primitive.expectNothingLeft(scene.redis, scene.name)
      expect(lost).to.deep.equal([])
    })

    it(`Renewal of a ${a} whose key is gone recreates nothing (B2)`, async () => {
      await scene.lockOf(await scene.open({}, WATCHDOG)).acquire()
      await scene.redis.del(scene.name)
      await sleep(1.1 * WATCHDOG)
      await primitive.expectNothingLeft(scene.redis, scene.name)
    })

    it(`Renewal of a ${a} stops when it was released by force, from here or from elsewhere (B2)`, async () => {
      const scripts = new ScriptCounter()
      const redisson = await scene.open({ transport: scripts.transport }, WATCHDOG)
      const here = await scene.lockOf(redisson, uniqueName()).acquire()
      const elsewhere = await scene.lockOf(redisson, uniqueName()).acquire()
      expect(await scene.lockOf(redisson, here.lockName).forceUnlock()).to.equal(true)
      expect(await scene.lockOf(await scene.open({}, WATCHDOG), elsewhere.lockName).forceUnlock()).to.equal(
        true,
      )
      await waitUntil('the loss is noticed', () => elsewhere.signal.aborted)
      const renewals = scripts.of(RENEW)
      await sleep(WATCHDOG)
      expect(scripts.of(RENEW)).to.equal(renewals)
    })

    itReenters(`A re-entered ${a} is renewed until its outermost unlock() (B3)`, async () => {
      const scripts = new ScriptCounter()
      const redisson = await scene.open({ transport: scripts.transport }, WATCHDOG)
      const lock = scene.lockOf(redisson)
      await redisson.run(async () => {
        for (let level = 0; level < 3; level++) await lock.lock()
        await sleep(1.2 * WATCHDOG)
        expect(await counts(primitive, scene.redis, scene.name)).to.deep.equal([3])
        await lock.unlock()
        await lock.unlock()
        await sleep(1.2 * WATCHDOG)
        expect(await lock.getHoldCount()).to.equal(1)
        await lock.unlock()
      })
      await primitive.expectNothingLeft(scene.redis, scene.name)
      const renewals = scripts.of(RENEW)
      await sleep(WATCHDOG)
      expect(scripts.of(RENEW)).to.equal(renewals)
    })

    itReenters(
      `A ${a} is still renewed after a longer explicit lease on top of it was released late (guarantee 6)`,
      async () => {
        const lock = scene.lockOf(await scene.open({}, WATCHDOG))
        await lock.lock({ threadId: 1 })
        const inner = await lock.acquire({ threadId: 1, leaseTime: 4 * WATCHDOG })
        await sleep(WATCHDOG)
        await inner.unlock()
        await sleep(WATCHDOG)
        expect(inner.signal.aborted).to.equal(false)
        expect(await lock.isHeldByThread(1)).to.equal(true)
        await lock.unlock({ threadId: 1 })
        await primitive.expectNothingLeft(scene.redis, scene.name)
      },
    )

    itReenters(
      `The watchdog of a ${a} does not spin under a longer explicit lease (guarantee 6)`,
      async () => {
        const scripts = new ScriptCounter()
        const lock = scene.lockOf(await scene.open({ transport: scripts.transport }, WATCHDOG))
        await lock.lock({ threadId: 1 })
        await lock.lock({ threadId: 1, leaseTime: 60_000 })
        await sleep(1.2 * WATCHDOG)
        expect(scripts.of(RENEW)).to.be.within(1, 4)
        await lock.unlock({ threadId: 1 })
        await lock.unlock({ threadId: 1 })
        await primitive.expectNothingLeft(scene.redis, scene.name)
      },
    )

    it(`A lost ${a} in a renewal batch loses none of the others (guarantee 6)`, async () => {
      const redisson = await scene.open({}, WATCHDOG)
      const lost = eventsOf(redisson, 'lockLost')
      const names = ['gone', 'a string', 'a list', 'alive', 'alive'].map((prefix) => uniqueName(prefix))
      const holds = await Promise.all(names.map((each) => scene.lockOf(redisson, each).acquire()))
      const [gone, string, list] = names as [string, string, string]
      await scene.redis.multi().del(gone, string, list).set(string, 'x').lpush(list, 'x').exec()
      await waitUntil('the losses are noticed', () => lost.length === 3)
      await sleep(WATCHDOG)
      expect(lost.map(({ lockName }) => lockName)).to.have.members([gone, string, list])
      expect(holds.map((hold) => hold.isHeld)).to.deep.equal([false, false, false, true, true])
      for (const hold of holds.slice(3)) await hold.unlock()
    })

    it(`A holder of a ${a} notices a forced release at its next renewal (C5)`, async () => {
      const redisson = await scene.open({}, 1_500)
      const lost = eventsOf(redisson, 'lockLost')
      const hold = await scene.lockOf(redisson).acquire()
      expect(await scene.lockOf(await scene.open({}, WATCHDOG)).forceUnlock()).to.equal(true)
      await primitive.expectNothingLeft(scene.redis, scene.name)
      await primitive.blocker(scene.redis, scene.name).take()
      await waitUntil('the loss is noticed', () => hold.signal.aborted)
      expect(lost.map(({ lockName, reason }) => [lockName, reason])).to.deep.equal([[scene.name, 'gone']])
      expect(hold.isHeld).to.equal(false)
      expect(await scene.redis.pttl(scene.name), 'the new hold was not renewed').to.equal(-1)
      expect((await rejection(hold.unlock())).name).to.equal('LockLostError')
    })
  })
}
