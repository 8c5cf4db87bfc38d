import { expect } from 'chai'
import type { LockHold } from '../../src/index'
import { createRedisson, openRedis, rejection, timed, uniqueName } from '../kit/clients'
import { connectionLost, HandoffScene } from '../kit/handoff-scene'
import { stillPending } from '../kit/observing'
import { waitUntil } from '../kit/servers/index'
import { asleep } from '../kit/sleepers'
import { latch, type ScriptSent, withReplicas } from '../kit/tapped-transport'

const LEASE = 60_000
const PROMPTLY = 5_000

describe('A local handoff that is disturbed', () => {
  let scene: HandoffScene

  beforeEach(async () => {
    scene = await HandoffScene.open()
  })

  const isFree = () =>
    waitUntil('the lock is free', async () => (await scene.redis.exists(scene.name)) === 0, PROMPTLY, 5)

  /** Stops the handoff on its way; with `applied`, on its way back. */
  function stop({ applied }: { applied: boolean }) {
    const [stopped, goOn] = [latch(), latch()]
    scene.onHandoff = async (sent) => {
      const answer = applied ? await sent.pass() : undefined
      stopped.open()
      await goOn.opened
      return applied ? answer : await sent.pass()
    }
    return { stopped: stopped.opened, goOn: goOn.open }
  }

  /** Another client's wish for the lock, which waits. */
  async function anotherClient() {
    const theirs = (await createRedisson()).getLock(scene.name).acquire()
    await waitUntil('both clients listen', async () => (await scene.foreign.listeners()) === 2)
    // Its second try is made under the subscription; whichever comes first, it gets in only when it is woken.
    return { hold: theirs }
  }

  describe('A taker that leaves during the handoff', () => {
    for (const applied of [false, true])
      for (const [how, leave] of Object.entries({
        'is aborted': (abort: AbortController) => abort.abort(new Error('had enough')),
        'has waited for long enough': () => {
          // Its wait, and the time in which it would still take the answer.
          scene.clock.advance(9)
          scene.clock.advance(1_000)
        },
      }))
        for (const behind of ['another waits here', 'another client waits', 'no caller waits'] as const)
          it(`A handoff whose taker leaves succeeds for the giver: ${applied ? 'done' : 'sent'}, taker ${how}, ${behind}`, async () => {
            const abort = new AbortController()
            const { signal } = abort
            const wait = how === 'is aborted' ? { waitTime: LEASE, signal } : { waitTime: 9 }
            const [giver, taking, ...others] = await scene.queued<Promise<LockHold | undefined>[]>(() =>
              Array.from({ length: behind === 'another waits here' ? 2 : 1 }, (_, index) =>
                index === 0 ? scene.lock.tryAcquire(wait) : scene.lock.acquire(),
              ),
            )
            if (behind === 'another client waits') others.push((await anotherClient()).hold)
            const { stopped, goOn } = stop({ applied })
            const unlocking = giver.unlock()
            await stopped
            leave(abort)
            const left = how === 'is aborted' ? (await rejection(taking!)).message : await taking
            goOn()
            await unlocking
            expect(left).to.equal(how === 'is aborted' ? 'had enough' : undefined)
            const letIn = async () => Promise.all(others.map(async (each) => (await each)!.unlock()))
            expect(await timed(letIn)).to.be.lessThan(PROMPTLY)
            await isFree()
            expect(scene.lost).to.deep.equal([])
          })
  })

  describe('A giver that has lost the lock', () => {
    /** The giver's unlock tells the loss; the taker waits on. */
    async function loses(lose: () => Promise<unknown>) {
      const [giver, taking] = await scene.queued(() => [scene.lock.acquire()])
      await lose()
      const error = await rejection(giver.unlock())
      expect(error.code).to.equal('LOCK_LOST')
      expect(scene.sent[0]).to.equal('lock/handoff')
      expect(scene.lost).to.deep.equal(['gone'])
      expect(giver.signal.aborted).to.equal(true)
      return { taking }
    }

    it('A handoff whose giver has lost the lock lets the taker in, where it is free', async () => {
      const { taking } = await loses(() => scene.redis.del(scene.name))
      const taker = await taking
      expect(scene.sent).to.deep.equal(['lock/handoff', 'lock/acquire'])
      expect(await scene.owners()).to.deep.equal([scene.fieldOf(taker)])
      await taker.unlock()
      await isFree()
    })

    it('A handoff by a giver that lost the lock leaves the taker waiting its turn', async () => {
      const { taking } = await loses(async () => {
        await scene.foreign.vanish()
        await scene.foreign.take(LEASE)
      })
      expect(await stillPending(taking)).to.equal(true)
      await scene.foreign.release()
      await (await taking).unlock()
      await isFree()
    })

    it('A handoff by a giver that lost the lock does not tell a late taker it is held', async () => {
      const [giver, taking] = await scene.queued(() => [scene.lock.tryAcquire({ waitTime: 9 })])
      const { stopped, goOn } = stop({ applied: false })
      const unlocking = rejection(giver.unlock())
      await stopped
      await scene.redis.del(scene.name)
      scene.clock.advance(9)
      goOn()
      expect((await unlocking).code).to.equal('LOCK_LOST')
      const taker = await taking
      expect(taker?.isHeld).to.equal(true)
      await taker!.unlock()
      await isFree()
    })

    it('A handoff by a giver that lost the lock fails the taker where the key is no lock', async () => {
      const { taking } = await loses(() => scene.redis.set(scene.name, 'no lock at all'))
      expect((await rejection(taking)).code).to.equal('WRONG_TYPE')
      expect(await scene.redis.get(scene.name)).to.equal('no lock at all')
      await scene.redis.del(scene.name)
    })
  })

  describe('A connection that breaks during the handoff', () => {
    const BACKOFF = 50
    let giver: LockHold
    let taking: Promise<LockHold>
    let next: Promise<LockHold>

    beforeEach(async () => {
      const queued = await scene.queued(() => [scene.lock.acquire(), scene.lock.acquire()])
      ;[giver, taking, next] = queued
    })

    /** The first copy goes the way of `first`, and meets a broken connection; answers how to send another copy of it. */
    async function breaks(first: (sent: ScriptSent) => Promise<unknown>) {
      const copies: ScriptSent[] = []
      const met = latch()
      scene.onHandoff = async (sent) => {
        if (copies.push(sent) > 1) return await sent.pass()
        await first(sent)
        met.open()
        throw connectionLost()
      }
      const unlocking = giver.unlock()
      await met.opened
      await new Promise((resolve) => setImmediate(resolve))
      scene.clock.advance(BACKOFF)
      await unlocking
      return () => copies[0]!.pass()
    }

    async function expectInside(taker: LockHold) {
      expect(await scene.redis.hgetall(scene.name)).to.deep.equal({ [scene.fieldOf(taker)]: '1' })
      expect(taker.isHeld).to.equal(true)
      expect(await stillPending(next)).to.equal(true)
    }

    async function expectNothingLeft(taker: LockHold) {
      await taker.unlock()
      await (await next).unlock()
      await isFree()
      expect(scene.lost).to.deep.equal([])
    }

    it('A handoff whose connection breaks before it was sent is sent again', async () => {
      await breaks(async () => {})
      const taker = await taking
      await expectInside(taker)
      await expectNothingLeft(taker)
    })

    it('A handoff whose connection breaks after it ran changes nothing by its second copy', async () => {
      await breaks((sent) => sent.pass())
      const taker = await taking
      await expectInside(taker)
      await expectNothingLeft(taker)
    })

    it('A first copy of a handoff that arrives after the second changes nothing', async () => {
      const late = await breaks(async () => {})
      const taker = await taking
      expect(await late()).to.equal(null)
      await expectInside(taker)
      await expectNothingLeft(taker)
      expect(await late()).to.equal(0)
      expect(await scene.owners()).to.deep.equal([])
    })

    it('A first copy of a handoff that arrives late leaves the next taker its hold', async () => {
      const late = await breaks(async () => {})
      await (await taking).unlock()
      const last = await next
      expect(await late()).to.equal(0)
      expect(await scene.redis.hgetall(scene.name)).to.deep.equal({ [scene.fieldOf(last)]: '1' })
      await last.unlock()
      await isFree()
    })

    it('A first copy of a handoff that arrives when another client holds the lock changes nothing', async () => {
      const late = await breaks(async () => {})
      await (await taking).unlock()
      await (await next).unlock()
      await scene.foreign.take(LEASE)
      expect(await late()).to.equal(0)
      expect(await scene.owners()).to.have.length(1)
      expect(await scene.redis.pttl(scene.name)).to.be.greaterThan(LEASE - PROMPTLY)
    })

    it('A handoff whose taker was lost is done for the giver, and the taker tries itself', async () => {
      await breaks(async (sent) => {
        await sent.pass()
        await scene.redis.del(scene.name)
      })
      scene.clock.advance(1)
      const taker = await taking
      expect(scene.sent).to.deep.equal(['lock/handoff', 'lock/handoff', 'lock/acquire'])
      await expectInside(taker)
      await expectNothingLeft(taker)
    })

    for (const applied of [false, true])
      it(`A handoff without its connection rejects and leaves nothing, ${applied ? 'done' : 'never sent'}`, async () => {
        scene.onHandoff = async (sent) => {
          if (applied) await sent.pass()
          throw connectionLost()
        }
        // Also who waited behind it: for as long, and for nothing.
        const outcomes = [giver.unlock(), taking, next].map((each) => rejection(each))
        for (let waited = 0; waited <= 11_000; waited += 250) {
          scene.clock.advance(250)
          await new Promise((resolve) => setTimeout(resolve, 2))
        }
        for (const outcome of outcomes) expect((await outcome).code).to.equal('REDIS_UNAVAILABLE')
        await isFree()
      })
  })

  describe('A client that is shut down during the handoff', () => {
    for (const applied of [false, true])
      it(`A handoff during shutdown() succeeds, and the grant is released: ${applied ? 'done' : 'sent'}`, async () => {
        const [giver, taking] = await scene.queued(() => [scene.lock.acquire()])
        const { stopped, goOn } = stop({ applied })
        const unlocking = giver.unlock()
        await stopped
        const shuttingDown = scene.redisson.shutdown()
        expect((await rejection(taking)).code).to.equal('REDISSON_SHUTDOWN')
        expect(await stillPending(shuttingDown)).to.equal(true)
        goOn()
        await Promise.all([unlocking, shuttingDown])
        expect(await scene.owners()).to.deep.equal([])
      })

    it("A handoff during shutdown() with a late answer leaves the taker's hold for its lease", async () => {
      const lease = { leaseTime: 3_000 }
      const [giver, taking] = await scene.queued(() => [scene.lock.acquire(lease)], lease)
      const { stopped, goOn } = stop({ applied: true })
      const unlocking = rejection(giver.unlock())
      await stopped
      const shuttingDown = scene.redisson.shutdown()
      await rejection(taking)
      await new Promise((resolve) => setImmediate(resolve))
      scene.clock.advance(2_000)
      await shuttingDown
      goOn()
      expect((await unlocking).code).to.equal('REDISSON_SHUTDOWN')
      expect(await scene.redis.pttl(scene.name)).to.be.within(1, 3_000)
    })
  })
})

describe('A handoff to a waiter whose try may have been granted', () => {
  it('unlock() rejects for a deleted hold, although a waiter has the lock by then (V189)', async () => {
    let onGrant: (() => void) | undefined
    const transport = withReplicas(async (send, script) => {
      const value = await send()
      const acknowledged = !onGrant || script !== 'lock/acquire'
      // No replica has the grant, so the waiter tries again at once.
      if (!acknowledged) setImmediate(onGrant!)
      if (!acknowledged) onGrant = undefined
      return { value, acknowledged }
    })
    const redisson = await createRedisson({}, { transport })
    const lock = redisson.getLock(uniqueName('deleted'))
    const wait = async () => {
      const waiting = lock.acquire()
      await asleep(redisson, `lock ${lock.getName()}`)
      return { waiting }
    }
    const first = await lock.acquire()
    const { waiting } = await wait()
    await first.unlock()
    const giver = await waiting
    const { waiting: next } = await wait()
    const unlocking = new Promise<{ code?: string }>((resolve) => {
      onGrant = () => resolve(rejection(giver.unlock()))
    })
    const channel = `redisson_lock__channel:{${lock.getName()}}`
    await (await openRedis()).pipeline().del(lock.getName()).publish(channel, '0').exec()
    expect((await unlocking).code).to.equal('LOCK_LOST')
    const hold = await next
    expect(hold.isHeld).to.equal(true)
    await hold.unlock()
  })
})

describe('A grant that no replica has yet', () => {
  it('A single try behind it ends with the first answer, and not with the last (guarantee 3)', async () => {
    let asked = 0
    let replicate: () => void = () => {}
    const replicated = new Promise<void>((resolve) => {
      replicate = resolve
    })
    const transport = withReplicas(async (send) => {
      const value = await send()
      const isFirst = ++asked === 1
      if (!isFirst) await replicated
      return { value, acknowledged: !isFirst }
    })
    const redisson = await createRedisson({}, { transport })
    const lock = redisson.getLock(uniqueName('behind'))
    const acquiring = lock.acquire()
    expect(await lock.tryLock()).to.equal(false)
    replicate()
    await (await acquiring).unlock()
    expect(asked).to.equal(2)
  })
})
