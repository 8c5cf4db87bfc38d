import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { createRedisson, rejection } from '../kit/clients'
import { HandoffScene } from '../kit/handoff-scene'
import { stillPending } from '../kit/observing'
import { waitUntil } from '../kit/servers/index'

const SOON = 5_000

describe('Local handoff to the next waiter', () => {
  let scene: HandoffScene

  beforeEach(async () => {
    scene = await HandoffScene.open()
  })

  const expectLease = async (lease: number) =>
    expect(await scene.redis.pttl(scene.name)).to.be.within(lease - SOON, lease)

  it('A local handoff is one script; other clients hear only when the last waiter left', async () => {
    const messages = await scene.messages()
    const [giver, taking] = await scene.queued(() => [scene.lock.acquire()])
    messages.length = 0
    await giver.unlock()
    const taker = await taking
    expect(scene.sent).to.deep.equal(['lock/handoff'])
    expect(await scene.redis.hgetall(scene.name)).to.deep.equal({ [scene.fieldOf(taker)]: '1' })
    expect(taker.threadId).not.to.equal(giver.threadId)
    expect([giver.isHeld, taker.isHeld]).to.deep.equal([false, true])
    await taker.unlock()
    expect(scene.sent).to.deep.equal(['lock/handoff', 'lock/release'])
    await waitUntil('the release is heard', () => messages.length > 0)
    expect(messages).to.deep.equal(['0'])
    expect(scene.lost).to.deep.equal([])
  })

  it('No local handoff with a shorter next lease, as others sleep by the longer one', async () => {
    const [giver, taking] = await scene.queued(() => [scene.lock.acquire({ leaseTime: 2_000 })])
    await giver.unlock()
    await (await taking).unlock()
    expect(scene.sent).to.deep.equal(['lock/release', 'lock/acquire', 'lock/release'])
  })

  it('No local handoff after a longer lease of a released level: others may have read it (V168)', async () => {
    const owner = { threadId: 5 }
    const [giver, taking] = await scene.queued(() => [scene.lock.acquire({ leaseTime: 40_000 })], owner)
    await scene.lock.lock({ leaseTime: 600_000, ...owner })
    await scene.lock.unlock(owner)
    scene.sent.length = 0
    await giver.unlock()
    await (await taking).unlock()
    expect(scene.sent).to.deep.equal(['lock/release', 'lock/acquire', 'lock/release'])
  })

  it('A local handoff leaves no waiter asleep behind a silent hold of its own client', async () => {
    const redisson = await createRedisson()
    const lock = redisson.getLock(scene.name)
    const first = lock.acquire()
    await waitUntil('it listens', async () => (await scene.foreign.listeners()) === 1)
    await scene.foreign.release()
    await (await first).unlock()
    // Its own release has been heard, so that the next hold is surely held until something else is.
    await sleep(100)
    await lock.acquire()
    await scene.redis.del(scene.name)
    const asked = performance.now()
    const second = await lock.tryAcquire({ waitTime: 8_000 })
    expect(second?.isHeld).to.equal(true)
    expect(performance.now() - asked).to.be.lessThan(4_000)
    await second?.unlock()
  })

  it('A local handoff waits for the outermost release of a lock that was entered again', async () => {
    const { lock, redisson } = scene
    const other = { threadId: 2 }
    await redisson.run(async () => {
      const giving = lock.lock()
      const taking = lock.lock(other)
      await scene.asleep(2)
      await scene.foreign.release()
      await giving
      await lock.lock()
      scene.sent.length = 0
      await lock.unlock()
      expect(scene.sent).to.deep.equal(['lock/release'])
      expect(await stillPending(taking)).to.equal(true)
      await lock.unlock()
      expect(scene.sent.at(-1)).to.equal('lock/handoff')
      await taking
    })
    expect(await lock.isHeldByThread(2)).to.equal(true)
    await lock.unlock(other)
    expect(await scene.owners()).to.deep.equal([])
  })

  it('No local handoff where the lease may have ended: the holder learns, the next tries', async () => {
    const [giver, taking] = await scene.queued(() => [scene.lock.acquire()], { leaseTime: 1_000 })
    scene.clock.advance(950)
    const error = await rejection(giver.unlock())
    expect(error.code).to.equal('LOCK_LOST')
    const ofGiver = scene.fieldOf(giver)
    // Its successor may be inside already.
    await waitUntil('the server has let it go', async () => !(await scene.owners()).includes(ofGiver))
    scene.clock.advance(100)
    const taker = await taking
    expect(scene.sent).not.to.include('lock/handoff')
    expect(await scene.owners()).to.deep.equal([scene.fieldOf(taker)])
  })

  for (const [given, taken] of [
    [20_000, 60_000],
    [60_000, 20_000],
    [undefined, 20_000],
    [60_000, undefined],
  ] as const)
    it(`A local handoff sets the taker's lease: ${taken ?? "the watchdog's"} instead of ${given ?? "the watchdog's"}`, async () => {
      const lease = (leaseTime: number | undefined) => (leaseTime === undefined ? {} : { leaseTime })
      const [giver, taking] = await scene.queued(() => [scene.lock.acquire(lease(taken))], lease(given))
      await giver.unlock()
      const taker = await taking
      await expectLease(taken ?? 30_000)
      // And it counts from now on, whatever became of the lease before.
      scene.clock.advance((taken ?? 30_000) - 1_100)
      expect(taker.isHeld).to.equal(true)
      scene.clock.advance(200)
      // Nothing renewed it: the watchdog's answer cannot be here in the same turn.
      expect(taker.isHeld).to.equal(false)
    })

  it('A local handoff is followed by renewals for the taker', async () => {
    const [giver, taking] = await scene.queued(() => [scene.lock.acquire()])
    await giver.unlock()
    const taker = await taking
    const renewed: (readonly (string | number)[])[] = []
    scene.onOther = (sent) => {
      if (sent.name === 'lock/renew') renewed.push(sent.args)
      return sent.pass()
    }
    await scene.redis.pexpire(scene.name, 15_000)
    scene.clock.advance(10_000)
    await waitUntil('it is renewed', async () => (await scene.redis.pttl(scene.name)) > 15_000)
    expect(renewed).to.deep.equal([[30_000, scene.fieldOf(taker)]])
    expect(scene.lost).to.deep.equal([])
  })

  it('A local handoff is not made with either side of a read-write lock', async () => {
    const rw = scene.redisson.getReadWriteLock(`${scene.name}:rw`)
    const sides = [rw.writeLock(), rw.writeLock(), rw.readLock(), rw.readLock(), rw.writeLock()]
    for (let round = 0; round < 3; round++)
      await Promise.all(sides.map((side) => side.withLock(() => Promise.resolve())))
    expect(scene.sent).to.include('write-lock/release')
    expect(scene.sent).not.to.include('lock/handoff')
  })

  it('A local handoff reaches waiters with a wait time, and skips those whose wait is over', async () => {
    const { lock } = scene
    const [giver, ...tries] = await scene.queued(() => [
      lock.tryLock({ waitTime: 4, threadId: 1 }),
      lock.tryLock({ waitTime: 40, threadId: 2 }),
      lock.tryLock({ waitTime: 40, threadId: 3 }),
    ])
    scene.clock.advance(5)
    expect(await tries[0]).to.equal(false)
    await giver.unlock()
    expect(await tries[1]).to.equal(true)
    expect(await stillPending(tries[2])).to.equal(true)
    await lock.unlock({ threadId: 2 })
    expect(await tries[2]).to.equal(true)
    expect(scene.sent).to.deep.equal(['lock/handoff', 'lock/handoff'])
    await lock.unlock({ threadId: 3 })
    expect(await scene.owners()).to.deep.equal([])
  })

  it('A giver that comes again after a local handoff does not overtake the waiters', async () => {
    const order: number[] = []
    const again = async (id: number) => {
      const hold = await scene.lock.acquire()
      order.push(id)
      await hold.unlock()
    }
    const [giver, ...all] = await scene.queued<Promise<void>[]>(() => [1, 2, 3].map(again))
    await Promise.all([giver.unlock(), again(4), ...all])
    expect(order).to.deep.equal([1, 2, 3, 4])
  })

  it('A local handoff ignores the answer of a renewal of the giver in flight', async () => {
    const [giver, taking] = await scene.queued(() => [scene.lock.acquire()])
    let renew!: () => void
    const held = new Promise<void>((resolve) => {
      renew = resolve
    })
    let answered: unknown
    scene.onOther = async (sent) => {
      if (sent.name !== 'lock/renew') return await sent.pass()
      await held
      answered = await sent.pass()
      return answered
    }
    // Holds are looked after from the end of the turn on; a connection that is back has every one renewed.
    await new Promise((resolve) => setImmediate(resolve))
    const connection = scene.redisson as unknown as { client: { leases: { renewAll(): void } } }
    connection.client.leases.renewAll()
    scene.clock.advance(2)
    expect(scene.sent).to.deep.equal(['lock/renew'])
    await giver.unlock()
    const taker = await taking
    renew()
    await waitUntil('the renewal is answered', () => answered !== undefined)
    expect(answered).to.deep.equal([0])
    await sleep(50)
    expect(scene.lost).to.deep.equal([])
    expect([giver.signal.aborted, taker.signal.aborted, taker.isHeld]).to.deep.equal([false, false, true])
    expect(await scene.owners()).to.deep.equal([scene.fieldOf(taker)])
  })

  it('A local handoff gives way to other clients once no waiter is left here', async () => {
    const other = await createRedisson()
    const theirs = other.getLock(scene.name).acquire()
    const giving = scene.lock.acquire()
    const taking = scene.lock.acquire()
    await scene.asleep(2)
    await waitUntil('both clients listen', async () => (await scene.foreign.listeners()) === 2)
    await scene.foreign.release()
    await Promise.all([
      theirs.then((hold) => hold.unlock()),
      giving.then((hold) => hold.unlock()),
      taking.then((hold) => hold.unlock()),
    ])
    expect(await scene.owners()).to.deep.equal([])
  })
})
