import { expect } from 'chai'
import { timed } from '../kit/clients'
import { waitUntil } from '../kit/servers/index'
import { NO_USERS, skipInMemory } from '../kit/stand-in'
import { fairScene } from './fair-scene'

/** A waiter that is inside by then was notified; the next refresh would come later. */
const AT_ONCE = 1_000
/** How long a place outlives its last refresh where a test cannot wait for the usual 5 s. */
const ALLOWANCE = 900
/** A third of that, and a round trip on a busy machine. */
const AT_NEXT_REFRESH = 1_200
const FIVE_MINUTES = 300_000

describe('A fair lock and what is beside it', () => {
  const scene = fairScene()

  it('A release of a fair lock without a queue wakes waiters of the plain lock', async () => {
    const hold = await scene.lockOf(await scene.open()).acquire()
    const plain = (await scene.open()).getLock(scene.name)
    const acquired = plain.acquire()
    await waitUntil('it listens', async () => {
      const [, count] = (await scene.redis.pubsub('NUMSUB', scene.channel)) as [string, number]
      return Number(count) === 1
    })
    await hold.unlock()
    expect(await timed(() => acquired)).to.be.lessThan(AT_ONCE)
  })

  it('The last fair waiter that leaves when notified passes the message to the plain lock', async () => {
    for (let round = 0; round < 5; round++) {
      const hold = await scene.lockOf(await scene.open()).acquire()
      const controller = new AbortController()
      const fair = scene.lockOf(await scene.open()).acquire({ signal: controller.signal })
      fair.catch(() => {})
      await waitUntil(
        'it queues',
        async () => (await scene.redis.llen(`redisson_lock_queue:{${scene.name}}`)) === 1,
      )
      const plain = (await scene.open()).getLock(scene.name)
      const acquired = plain.acquire()
      await waitUntil('it listens', async () => {
        const [, count] = (await scene.redis.pubsub('NUMSUB', scene.channel)) as [string, number]
        return Number(count) > 0
      })
      const released = hold.unlock()
      controller.abort()
      await released
      await (await fair.catch(() => undefined))?.unlock()
      expect(await timed(async () => (await acquired).unlock())).to.be.lessThan(AT_ONCE)
    }
  })

  it('A waiter for a fair lock learns of a plain release at its next refresh', async () => {
    const hold = await (await scene.open()).getLock(scene.name).acquire()
    const { acquired } = await scene.waiting(scene.lockOf(await scene.open(), ALLOWANCE))
    await hold.unlock()
    expect(await timed(() => acquired)).to.be.lessThan(AT_NEXT_REFRESH)
  })

  it('The plain lock re-enters and releases a fair lock, and the head is let in', async () => {
    const redisson = await scene.open()
    const plain = redisson.getLock(scene.name)
    await redisson.run(async () => {
      await scene.lockOf(redisson).lock()
      await plain.lock()
      expect(await scene.lockOf(redisson).getHoldCount()).to.equal(2)
      const { acquired } = await scene.waiting(scene.lockOf(await scene.open(), ALLOWANCE))
      await plain.unlock()
      await plain.unlock()
      expect(await timed(() => acquired)).to.be.lessThan(AT_NEXT_REFRESH)
    })
  })

  it('A waiter for a fair lock enters at once though its holder, of its client, may not publish', async function () {
    skipInMemory(this, NO_USERS)
    await scene.redis.call('ACL', 'SETUSER', 'mute', 'on', '>secret', '~*', '&*', '+@all', '-publish')
    const redisson = await scene.open({}, scene.server.url.replace('redis://', 'redis://mute:secret@'))
    redisson.on('error', () => {})
    const hold = await scene.lockOf(redisson).acquire()
    const { acquired } = await scene.waiting(scene.lockOf(redisson))
    await hold.unlock()
    expect(await timed(() => acquired)).to.be.lessThan(AT_ONCE)
  })

  it('The next refresh notifies a Java head of the queue of a free lock (E1, E4)', async () => {
    await scene.java.take()
    const head = await scene.java.enter(2, FIVE_MINUTES)
    const heard: string[] = []
    const ear = scene.redis.duplicate()
    ear.on('message', (_, text) => heard.push(text))
    await ear.subscribe(scene.java.channelOf(head))
    await scene.waiting(scene.lockOf(await scene.open(), ALLOWANCE))
    await scene.java.vanish()
    await waitUntil('it is notified', () => heard.includes('0'), AT_NEXT_REFRESH)
    ear.disconnect()
  })

  it('More lapsed places than one slice has are dropped in one call (E1)', async () => {
    const owners = Array.from({ length: 1_200 }, (_, thread) => scene.java.owner(thread))
    await scene.redis.rpush(scene.java.queue, ...owners)
    await scene.redis.zadd(scene.java.timeouts, ...owners.flatMap((owner) => [1, owner]))
    const hold = await scene.lockOf(await scene.open()).tryAcquire()
    expect(hold).to.not.equal(undefined)
    await hold!.unlock()
    await scene.nothingIsLeft()
  })

  it('A place behind a Java waiter that has waited for long withstands what that takes off (E7)', async () => {
    await scene.java.take(1_000)
    const head = await scene.java.enter(2, FIVE_MINUTES)
    const [allowance] = await scene.java.allowances()
    // As if it had come 200 s ago.
    await scene.redis.zincrby(scene.java.timeouts, '-200000', head)
    const { acquired, owner } = await scene.waiting(scene.lockOf(await scene.open()))
    await scene.java.vanish()
    await scene.java.takeFirst(2, FIVE_MINUTES)
    expect(allowance).to.be.within(FIVE_MINUTES, FIVE_MINUTES + 1_000)
    expect((await scene.java.allowances())[0]).to.be.greaterThan(0)
    expect(await scene.lockOf(await scene.open()).tryLock()).to.equal(false)
    expect(await scene.java.places()).to.deep.equal([owner])
    await scene.java.release()
    expect(await timed(() => acquired)).to.be.lessThan(AT_ONCE)
  })

  it('A queue key that holds something else is a WrongTypeError, and unlock() works', async () => {
    const lock = scene.lockOf(await scene.open())
    const hold = await lock.acquire()
    await scene.redis.set(scene.java.queue, 'text')
    const error = await lock.tryLock().catch((reason) => reason)
    expect(error).to.have.property('code', 'WRONG_TYPE')
    await hold.unlock()
    expect(await scene.redis.exists(scene.name)).to.equal(0)
  })
})
