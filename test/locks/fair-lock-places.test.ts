import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { createRedisson, rejection, timed } from '../kit/clients'
import { eventsOf } from '../kit/observing'
import { openProxy } from '../kit/proxies'
import { waitUntil } from '../kit/servers/index'
import { fairScene } from './fair-scene'

/** How long a place outlives its last refresh where a test cannot wait for the usual 5 s. */
const ALLOWANCE = 900
/** A waiter that is inside by then was notified; the next refresh would come later. */
const AT_ONCE = 1_000

describe('Places in the queue of a fair lock', () => {
  const scene = fairScene()

  it('Callers of two clients enter a fair lock in order of arrival (E11)', async () => {
    const [one, other] = [await scene.open(), await scene.open()]
    const hold = await scene.lockOf(one).acquire()
    const entered: number[] = []
    const order = [one, other, other, one, other, one, one, other, one, other]
    const queued = await scene.queueUp(
      order.map((redisson) => scene.lockOf(redisson)),
      entered,
    )
    expect(await scene.lockOf(one).tryLock()).to.equal(false)
    await hold.unlock()
    expect(await timed(() => Promise.all(queued))).to.be.lessThan(1_500)
    expect(entered).to.deep.equal(order.map((_, number) => number))
    await scene.nothingIsLeft()
  })

  // Redisson's has leases of a second and waits of ten.
  it('Eight callers that never release a fair lock enter it in order, as leases end', async () => {
    const redisson = await scene.open()
    const entered: number[] = []
    const callers: Promise<unknown>[] = []
    for (let number = 0; number < 8; number++) {
      const caller = async () => {
        if (await scene.lockOf(redisson).tryLock(4_000, 200)) entered.push(number)
      }
      callers.push(redisson.run(caller))
      await sleep(30)
    }
    await Promise.all(callers)
    expect(entered).to.deep.equal([0, 1, 2, 3, 4, 5, 6, 7])
  })

  it('Waiters for a fair lock sit out a pause of the server, without an error event', async () => {
    const redisson = await scene.open()
    const errors = eventsOf(redisson, 'error')
    await scene.lockOf(redisson).acquire({ leaseTime: 700 })
    const second = await scene.waiting(scene.lockOf(redisson))
    const trying = redisson.run(() => scene.lockOf(redisson).tryLock(20_000, 300))
    await waitUntil('both are in the queue', async () => (await scene.length()) === 2)
    await scene.redis.call('CLIENT', 'PAUSE', '60000', 'WRITE')
    await sleep(2_500)
    await scene.redis.call('CLIENT', 'UNPAUSE')
    await (await second.acquired).unlock()
    expect(await trying).to.equal(true)
    expect(await scene.length()).to.equal(0)
    expect(errors).to.deep.equal([])
  })

  it('tryLock() without a wait neither queues for a fair lock nor passes those that do (E11)', async () => {
    await scene.java.take()
    await scene.java.enter(2, 60_000)
    await scene.java.vanish()
    const lock = scene.lockOf(await scene.open())
    expect(await lock.tryLock()).to.equal(false)
    expect(await scene.length()).to.equal(1)
    await scene.java.leave(2, 60_000)
    expect(await lock.tryLock()).to.equal(true)
  })

  it('Waiters whose clients were cut off delay those behind by their allowance only (E1)', async () => {
    const hold = await scene.lockOf(await scene.open()).acquire()
    const proxy = await openProxy(scene.server)
    for (let dead = 0; dead < 3; dead++)
      await scene.waiting(scene.lockOf(await scene.open({}, proxy.url), ALLOWANCE))
    const { acquired } = await scene.waiting(scene.lockOf(await scene.open(), ALLOWANCE))
    proxy.stall()
    await hold.unlock()
    expect(await timed(() => acquired)).to.be.lessThan(ALLOWANCE + 1_000)
  })

  it("A dead waiter behind a past Java turn costs an allowance, not Java's wait (E1)", async () => {
    await scene.java.take(30_000)
    await scene.java.enter(2, 300_000)
    const proxy = await openProxy(scene.server)
    await scene.waiting(scene.lockOf(await scene.open({}, proxy.url), ALLOWANCE))
    proxy.stall()
    const { acquired } = await scene.waiting(scene.lockOf(await scene.open(), ALLOWANCE))
    const [, dead] = await scene.java.allowances()
    expect(dead, 'long enough for the time that the Java waiter takes off').to.be.greaterThan(299_000)
    await scene.java.vanish()
    // It takes off less than it seemed to be going to.
    await scene.java.takeFirst(2, 150_000)
    await scene.java.release()
    expect(await timed(() => acquired)).to.be.lessThan(2 * ALLOWANCE + 1_000)
  })

  it('Places outlast a hold that is longer than their allowance, whatever newcomers sweep (E2)', async () => {
    const [one, other] = [await scene.open(), await scene.open()]
    const hold = await scene.lockOf(one, ALLOWANCE).acquire()
    const entered: number[] = []
    const locks = [one, other, one, other].map((redisson) => scene.lockOf(redisson, ALLOWANCE))
    const queued = await scene.queueUp(locks, entered)
    for (let newcomer = 0; newcomer < 8; newcomer++) {
      await sleep(ALLOWANCE / 4)
      expect(await scene.lockOf(other, ALLOWANCE).tryLock(20)).to.equal(false)
    }
    await hold.unlock()
    await Promise.all(queued)
    expect(entered).to.deep.equal([0, 1, 2, 3])
  })

  it('Waiters whose places are gone enter the queue again at once, in their order (E2)', async () => {
    const redisson = await scene.open()
    await scene.java.take()
    const entered: number[] = []
    const queued = await scene.queueUp(
      [0, 1, 2].map(() => scene.lockOf(redisson, ALLOWANCE)),
      entered,
    )
    const places = await scene.java.places()
    // Their second tries, under their subscriptions, are over: one that came now would be back before the others.
    await sleep(100)
    await scene.redis.del(scene.java.queue, scene.java.timeouts)
    await waitUntil('they are back', async () => (await scene.length()) === 3, ALLOWANCE)
    expect(await scene.java.places()).to.deep.equal(places)
    await scene.java.release()
    await Promise.all(queued)
    expect(entered).to.deep.equal([0, 1, 2])
  })

  it('Fifty waiters behind a dead head send little, and enter when its place lapses (E3)', async () => {
    const redisson = await scene.open()
    await scene.java.take()
    await scene.java.enter(2, 3_000)
    const entered: number[] = []
    const queued = Array.from({ length: 50 }, async (_, number) => {
      const hold = await scene.lockOf(redisson).acquire()
      entered.push(number)
      await hold.unlock()
    })
    await waitUntil('they are in the queue', async () => (await scene.length()) === 51)
    await sleep(400)
    await scene.java.vanish()
    const before = await scene.scripts()
    await sleep(1_500)
    expect((await scene.scripts()) - before).to.be.lessThan(4)
    expect(entered).to.deep.equal([])
    // The first learns of it when the dead place lapses.
    expect(await timed(() => Promise.all(queued))).to.be.lessThan(4_000)
    expect(entered).to.deep.equal(queued.map((_, number) => number))
  })

  it('A head that aborts when notified passes a free lock to the next client (E4)', async () => {
    await scene.java.take()
    const abort = new AbortController()
    const first = await scene.waiting(scene.lockOf(await scene.open()), abort.signal)
    const second = await scene.waiting(scene.lockOf(await scene.open()))
    // The message is lost on the way to it.
    await scene.java.vanish()
    abort.abort(new Error('enough'))
    expect((await rejection(first.acquired)).message).to.equal('enough')
    expect(await timed(() => second.acquired)).to.be.lessThan(AT_ONCE)
  })

  it('A head that leaves a free lock notifies a Java waiter behind it (E4)', async () => {
    await scene.java.take()
    const abort = new AbortController()
    const first = await scene.waiting(scene.lockOf(await scene.open()), abort.signal)
    const owner = await scene.java.enter(2, 300_000)
    const heard: string[] = []
    const ear = scene.redis.duplicate()
    ear.on('message', (_, text) => heard.push(text))
    await ear.subscribe(scene.java.channelOf(owner))
    await scene.java.vanish()
    abort.abort(new Error('enough'))
    await rejection(first.acquired)
    await waitUntil('it is notified', () => heard.includes('0'), AT_ONCE)
    ear.disconnect()
  })

  it('unlock() of a hold that is gone rejects as lost, and notifies the head (E10)', async () => {
    const hold = await scene.lockOf(await scene.open()).acquire()
    const next = await scene.waiting(scene.lockOf(await scene.open()))
    await scene.redis.del(scene.name)
    expect((await rejection(hold.unlock())).code).to.equal('LOCK_LOST')
    expect(await timed(() => next.acquired)).to.be.lessThan(AT_ONCE)
  })

  it('The places of a fair lock, and its scores, are under the mapped name (E12)', async () => {
    const nameMapper = { map: (name: string) => `mapped:${name}` }
    const redisson = await createRedisson({ redis: scene.server.url, nameMapper })
    const lock = scene.lockOf(redisson)
    const hold = await lock.acquire()
    const waiting = lock.acquire()
    const mapped = `mapped:${scene.name}`
    const keys = [mapped, `redisson_lock_queue:{${mapped}}`, `redisson_lock_timeout:{${mapped}}`].sort()
    await waitUntil('it queues', async () => (await scene.redis.exists(...keys)) === 3)
    expect((await scene.redis.keys(`*${scene.name}*`)).sort()).to.deep.equal(keys)
    await hold.unlock()
    await (await waiting).unlock()
  })
})
