import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { ClientInternals } from '../../src/client/client-internals'
import { RedissonShutdownError } from '../../src/index'
import { systemClock } from '../../src/util/clock'
import { rejection } from '../kit/clients'
import { waitUntil } from '../kit/servers/index'
import { NO_USERS, skipInMemory } from '../kit/stand-in'
import { type ScriptSent, tapped } from '../kit/tapped-transport'
import { fairScene } from './fair-scene'

const ALLOWANCE = 900
const TEN_MINUTES = 600_000

describe('The queue of a fair lock', () => {
  const scene = fairScene()

  describe('A waiter that leaves', () => {
    const LOST_RIGHT = 'a right that it loses'
    /** A waiter whose wait has just begun, ended in some way. */
    const ENDS: Record<string, (abort: AbortController, shutdown: () => Promise<void>) => unknown> = {
      'its signal': (abort) => abort.abort(new Error('enough')),
      'shutdown()': (_, shutdown) => shutdown(),
      'a lock key of another type': async () => {
        await scene.redis.set(scene.name, 'text')
        await wakeAll()
        await sleep(50)
        await scene.redis.del(scene.name)
      },
      [LOST_RIGHT]: async () => {
        await scene.redis.call('ACL', 'SETUSER', 'fair', '-hexists')
        await wakeAll()
        await sleep(50)
        await scene.redis.call('ACL', 'SETUSER', 'fair', '+hexists')
      },
    }

    async function asUser() {
      await scene.redis.call('ACL', 'SETUSER', 'fair', 'on', '>secret', '~*', '&*', '+@all')
      return scene.server.url.replace('redis://', 'redis://fair:secret@')
    }

    async function wakeAll() {
      for (const owner of await scene.java.places())
        await scene.redis.publish(scene.java.channelOf(owner), '0')
    }

    for (const [how, end] of Object.entries(ENDS))
      it(`A wait for a fair lock that is ended by ${how} leaves no place behind (E5)`, async function () {
        if (how === LOST_RIGHT) skipInMemory(this, NO_USERS)
        const url = how === LOST_RIGHT ? await asUser() : scene.server.url
        const redisson = await scene.open({}, url)
        await scene.java.take()
        const abort = new AbortController()
        const { acquired } = await scene.waiting(scene.lockOf(redisson), abort.signal)
        const rejected = rejection(acquired)
        await end(abort, () => redisson.shutdown())
        await rejected
        await scene.java.vanish()
        await scene.nothingIsLeft()
      })

    it('A wait for a fair lock that times out leaves no place behind (E5)', async () => {
      await scene.java.take()
      expect(await scene.lockOf(await scene.open()).tryLock(100)).to.equal(false)
      await scene.java.vanish()
      await scene.nothingIsLeft()
    })

    for (const trouble of ['READONLY not now', 'NOSCRIPT no such script', 'NOPERM not now'])
      it(`A waiter for a fair lock leaves in the end, though its leaving meets ${trouble} (E5)`, async () => {
        let failures = 2
        const transport = tapped((sent) =>
          sent.name === 'fair-lock/leave' && !sent.bySource && failures-- > 0
            ? Promise.reject(new Error(trouble))
            : sent.pass(),
        )
        await scene.java.take()
        expect(await scene.lockOf(await scene.open({ transport })).tryLock(50)).to.equal(false)
        await waitUntil('it has left', async () => (await scene.length()) === 0, 3_000)
        expect(failures).to.be.lessThan(2)
      })

    it('A try of a fair lock that its leaving overtook is taken out again (E5, E6)', async () => {
      const transport = tapped(async (sent) => {
        if (sent.name === 'fair-lock/acquire' && sent.args[3] === 1) await sleep(200)
        return await sent.pass()
      })
      const redisson = await scene.open({ transport })
      await scene.java.take()
      const abort = new AbortController()
      const rejected = rejection(scene.lockOf(redisson).lock({ signal: abort.signal }))
      await sleep(50)
      abort.abort(new Error('enough'))
      await rejected
      // The server may have to be taught the script first.
      await sleep(600)
      expect(await scene.length()).to.equal(0)
    })
  })

  describe('A late copy', () => {
    const copies: ScriptSent[] = []
    const internals: ClientInternals = {
      transport: tapped((sent) => {
        if (!sent.bySource && sent.name === 'fair-lock/acquire') copies.push(sent)
        return sent.pass()
      }),
    }

    beforeEach(() => {
      copies.length = 0
    })

    it('A late try that enters an owner after all is taken out by a refresh (E6)', async () => {
      const redisson = await scene.open(internals)
      await scene.java.take()
      const staying = await scene.waiting(scene.lockOf(redisson, ALLOWANCE))
      copies.length = 0
      expect(await scene.lockOf(redisson, ALLOWANCE).tryLock(50)).to.equal(false)
      await waitUntil('it has left', async () => (await scene.length()) === 1)
      await copies[0]!.pass()
      expect(await scene.length()).to.equal(2)
      await waitUntil('it is taken out', async () => (await scene.length()) === 1, ALLOWANCE)
      expect(await scene.java.places()).to.deep.equal([staying.owner])
    })
  })

  describe('Scores', () => {
    /** No place may last longer than the lease, the waits of the Java places up to it, and our allowance. */
    async function expectBounded(lease: number, waits: Map<string, number>) {
      const lapses = await scene.java.lapses()
      let ahead = 0
      for (const [index, [owner, lapsesIn]] of lapses.entries()) {
        ahead += waits.get(owner) ?? 0
        expect(lapsesIn, `place ${index} of ${lapses.length}`).to.be.at.most(ahead + lease + ALLOWANCE + 50)
      }
    }

    it('Random moves of Java and ours put no place ahead of the waits before it (E7)', async () => {
      const LEASE = 30_000
      const WAIT = 300_000
      await scene.java.take(LEASE)
      const redissons = [await scene.open(), await scene.open()]
      const waits = new Map<string, number>()
      const leaving: AbortController[] = []
      let thread = 10
      const inside = () => [...waits.keys()]
      for (let step = 0; step < 60; step++) {
        const chance = Math.random()
        if (chance < 0.3) waits.set(await scene.java.enter(++thread, WAIT), WAIT)
        else if (chance < 0.7) {
          const abort = new AbortController()
          leaving.push(abort)
          await scene.waiting(scene.lockOf(redissons[step % 2]!, ALLOWANCE), abort.signal)
        } else if (chance < 0.85) {
          const before = await scene.length()
          const [abort] = leaving.splice(Math.floor(Math.random() * leaving.length), 1)
          if (!abort) continue
          abort.abort(new Error('enough'))
          await waitUntil('it has left', async () => (await scene.length()) < before)
        } else {
          const [owner] = inside()
          if (!owner) continue
          waits.delete(owner)
          await scene.java.leave(Number(owner.split(':')[1]), WAIT)
        }
        await expectBounded(LEASE, waits)
      }
      await sleep(400)
      await expectBounded(LEASE, waits)
      const [, ...rest] = await scene.java.allowances()
      for (const each of rest) expect(each, 'none has lapsed').to.be.greaterThan(0)
    })

    for (const [how, added, takenOff] of [
      ['adds 10 ms and takes off 10 s', 10, 10_000],
      ['adds 10 s and takes off 10 s', 10_000, 10_000],
    ] as const)
      it(`A Java waiter that ${how} leaves the places behind it in order (E7)`, async () => {
        await scene.java.take(3_000)
        const [one, other] = [await scene.open(), await scene.open()]
        await scene.java.enter(2, added)
        const entered: number[] = []
        const queued = await scene.queueUp(
          [one, other, one, other].map((redisson) => scene.lockOf(redisson)),
          entered,
        )
        await scene.java.leave(2, takenOff)
        // Somebody sweeps at once.
        expect(await scene.lockOf(other).tryLock()).to.equal(false)
        expect(await scene.length()).to.equal(4)
        await scene.java.release()
        await Promise.all(queued)
        expect(entered).to.deep.equal([0, 1, 2, 3])
      })

    for (const [direction, skew] of [
      ['ahead', TEN_MINUTES],
      ['behind', -TEN_MINUTES],
    ] as const)
      it(`A client whose clock is ten minutes ${direction} has places like any other (E8)`, async () => {
        const clock = {
          ...systemClock,
          now: () => {
            const { monotonic, wall } = systemClock.now()
            return { monotonic, wall: wall + skew }
          },
          elapsedSince: (moment: { monotonic: number }) => systemClock.now().monotonic - moment.monotonic,
        }
        await scene.java.take(30_000)
        const entered: number[] = []
        const [skewed, right] = [await scene.open({ clock }), await scene.open()]
        const locks = [right, skewed, right, skewed].map((redisson) => scene.lockOf(redisson))
        const queued = await scene.queueUp(locks, entered)
        await sleep(100)
        for (const allowance of await scene.java.allowances()) expect(allowance).to.be.within(1_000, 5_050)
        await scene.java.release()
        await Promise.all(queued)
        expect(entered).to.deep.equal([0, 1, 2, 3])
      })
  })

  it('A child that waits for a fair lock re-enters what its parent acquires first', async () => {
    const redisson = await scene.open()
    const lock = scene.lockOf(redisson)
    await scene.java.take()
    await redisson.run(async () => {
      const parent = lock.lock()
      const child = lock.withLock(() => 'inside')
      await waitUntil('both are in the queue', async () => (await scene.length()) === 2)
      await scene.java.release()
      await parent
      expect(await child).to.equal('inside')
      await lock.unlock()
    })
    await scene.nothingIsLeft()
  })

  it('shutdown() takes all waiters out of the queue of a fair lock (E5, guarantee 9)', async () => {
    const redisson = await scene.open()
    await scene.java.take()
    const waiting = Array.from({ length: 50 }, () => rejection(scene.lockOf(redisson).lock()))
    await waitUntil('they are in the queue', async () => (await scene.length()) === 50)
    await redisson.shutdown()
    expect(await scene.length()).to.equal(0)
    for (const error of await Promise.all(waiting)) expect(error).to.be.instanceOf(RedissonShutdownError)
  })
})
