import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { type Redisson, TimeUnit } from '../../src/index'
import { createRedisson, openRedis, rejection, timed, uniqueName } from '../kit/clients'
import { redis, redisAndName } from '../kit/each-test'
import { FastClock } from '../kit/fast-clock'
import { deferred, expectHandledRejections, stillPending } from '../kit/observing'
import { SentScripts } from '../kit/sent-scripts'
import { sharedCluster, waitUntil } from '../kit/servers/index'
import { asleep } from '../kit/sleepers'
import { NO_CLUSTER, skipInMemory } from '../kit/stand-in'

const channelOf = (name: string) => `redisson_sc:{${name}}`

describe('A semaphore', () => {
  expectHandledRejections()

  redisAndName()

  async function newSemaphore(permits: number, redisson?: Redisson) {
    redisson ??= await createRedisson()
    const name = uniqueName('semaphore')
    const semaphore = redisson.getSemaphore(name)
    if (permits >= 0) await semaphore.trySetPermits(permits)
    return { redisson, name, semaphore, sleeps: (n = 1) => asleep(redisson, `semaphore ${name}`, n) }
  }

  async function heardOn(name: string) {
    const ear = await openRedis()
    const heard: string[] = []
    ear.on('message', (_, message) => heard.push(message))
    await ear.subscribe(channelOf(name))
    return heard
  }

  it('Permits of a semaphore are taken, released, counted, drained and added', async () => {
    const { semaphore, name } = await newSemaphore(5)
    expect(await redis.get(name)).to.equal('5')
    await semaphore.acquire()
    await semaphore.acquire(2)
    expect(await semaphore.availablePermits()).to.equal(2)
    expect(await semaphore.tryAcquire(3)).to.equal(false)
    expect(await semaphore.tryAcquire(2)).to.equal(true)
    expect(await semaphore.tryAcquire(1, 20)).to.equal(false)
    expect(await semaphore.tryAcquire(1, 0.02, TimeUnit.SECONDS)).to.equal(false)
    await semaphore.release()
    await semaphore.release(4)
    expect(await semaphore.drainPermits()).to.equal(5)
    expect(await semaphore.drainPermits()).to.equal(0)
    await semaphore.addPermits(-3)
    expect(await semaphore.availablePermits()).to.equal(-3)
    expect(await semaphore.drainPermits()).to.equal(-3)
    expect(await semaphore.releaseIfExists(2)).to.equal(true)
    expect(await semaphore.tryAcquire({ permits: 2 })).to.equal(true)
    expect(await redis.get(name)).to.equal('0')
    expect(semaphore.getName()).to.equal(name)
    expect(JSON.stringify(semaphore)).to.equal(JSON.stringify({ name }))
  })

  it('None of a semaphore is taken or released at once, and asks nothing', async () => {
    const scripts = new SentScripts()
    const { semaphore } = await newSemaphore(-1, await createRedisson({}, { transport: scripts.transport }))
    await semaphore.acquire(0)
    expect(await semaphore.tryAcquire(0)).to.equal(true)
    await semaphore.release(0)
    expect(await semaphore.releaseIfExists(0)).to.equal(false)
    expect(scripts.names).to.deep.equal([])
  })

  it('A semaphore refuses numbers that are no counts, and options it does not know', async () => {
    const { semaphore } = await newSemaphore(1)
    for (const bad of [-1, 1.5, Number.NaN, 2 ** 31])
      for (const call of [
        () => semaphore.acquire(bad),
        () => semaphore.tryAcquire(bad),
        () => semaphore.release(bad),
        () => semaphore.releaseIfExists(bad),
        () => semaphore.trySetPermits(bad),
        () => semaphore.withPermits(() => {}, { permits: bad }),
      ])
        expect(await rejection(call()), String(bad)).to.be.instanceOf(RangeError)
    for (const call of [
      () => semaphore.acquire('1' as never),
      () => semaphore.acquire({ waitTime: 1 } as never),
      () => semaphore.acquire({ permits: '1' } as never),
      () => semaphore.tryAcquire(1, TimeUnit.SECONDS as never),
      () => semaphore.tryAcquire({ permits: 1 } as never, 5),
      () => semaphore.withPermits(undefined as never),
      () => semaphore.acquire(null as never),
    ])
      expect(await rejection(call())).to.be.instanceOf(TypeError)
    const asInJava = await rejection(semaphore.tryAcquire(10, TimeUnit.SECONDS as never))
    expect(asInJava.message).to.contain('write tryAcquire(1, 10, TimeUnit.SECONDS)')
    expect(await semaphore.availablePermits()).to.equal(1)
  })

  it('A semaphore is set when its key is absent, not 0, and keeps its TTL (S8, S9)', async () => {
    const { semaphore, name } = await newSemaphore(0)
    expect(await semaphore.trySetPermits(3)).to.equal(false)
    expect(await redis.get(name)).to.equal('0')
    await redis.del(name)
    expect(await semaphore.trySetPermits(3, 60, TimeUnit.SECONDS)).to.equal(true)
    await semaphore.acquire()
    await semaphore.release()
    await semaphore.addPermits(2)
    await semaphore.drainPermits()
    expect(await redis.pttl(name)).to.be.within(50_000, 60_000)
  })

  it('Nothing below 1 is published, and no count that Java cannot read is made (S7)', async () => {
    const { semaphore, name } = await newSemaphore(0)
    const heard = await heardOn(name)
    await semaphore.addPermits(-3)
    await semaphore.release()
    await semaphore.release(2)
    await semaphore.release(4)
    await semaphore.addPermits(-1)
    await semaphore.addPermits(2)
    await waitUntil('two messages are heard', () => heard.length >= 2)
    expect(heard).to.deep.equal(['4', '5'])
    expect(await rejection(semaphore.release(2 ** 31 - 1))).to.be.instanceOf(RangeError)
    expect(await rejection(semaphore.addPermits(2 ** 31 - 1))).to.be.instanceOf(RangeError)
    expect(await redis.get(name)).to.equal('5')
  })

  it('A permit whose release would make too many stays out: shutdown() waits for its release', async () => {
    const { redisson, semaphore, name } = await newSemaphore(5)
    await semaphore.acquire()
    expect(await rejection(semaphore.release(2 ** 31 - 1))).to.be.instanceOf(RangeError)
    const ending = redisson.shutdown({ timeout: 5_000 })
    await sleep(200)
    await semaphore.release()
    await ending
    expect(await redis.get(name)).to.equal('5')
  })

  it('A large request blocks smaller ones behind it for its wait only (S5, S6, V30)', async () => {
    const { semaphore, sleeps, name } = await newSemaphore(3)
    const abort = new AbortController()
    const large = rejection(semaphore.acquire({ permits: 5, signal: abort.signal }))
    await sleeps(1)
    const small = semaphore.acquire()
    await sleeps(2)
    expect(await timed(async () => expect(await semaphore.tryAcquire()).to.equal(false))).to.be.below(250)
    await semaphore.release()
    expect(await stillPending(small, 100)).to.equal(true)
    expect(await redis.get(name)).to.equal('4')
    abort.abort(new Error('enough'))
    expect((await large).message).to.equal('enough')
    expect(await timed(() => small)).to.be.below(1_000)
    expect(await redis.get(name)).to.equal('3')
  })

  it('Requests of different sizes are served in the order in which they came (S5, S6)', async () => {
    const { semaphore, sleeps } = await newSemaphore(0)
    const served: number[] = []
    const waiting = [1, 5, 2, 1].map((permits) => semaphore.acquire(permits).then(() => served.push(permits)))
    await sleeps(4)
    for (let released = 0; released < 9; released++) await semaphore.release()
    await Promise.all(waiting)
    expect(served).to.deep.equal([1, 5, 2, 1])
  })

  it('Single tries that start together share the free permits, and resolve at once', async () => {
    const { semaphore, sleeps } = await newSemaphore(3)
    const tries = Array.from({ length: 5 }, () => semaphore.tryAcquire())
    expect((await Promise.all(tries)).filter((isGranted) => isGranted)).to.have.length(3)
    const waiting = semaphore.acquire()
    await sleeps(1)
    expect(await timed(() => semaphore.tryAcquire())).to.be.below(250)
    await semaphore.release()
    await waiting
  })

  it('One message lets in all waiters that the permits suffice for, in their order (S5)', async () => {
    const { semaphore, sleeps } = await newSemaphore(0)
    const entered: number[] = []
    const waiting = Array.from({ length: 6 }, (_, index) =>
      semaphore.acquire().then(() => entered.push(index)),
    )
    await sleeps(6)
    await semaphore.release(6)
    await Promise.all(waiting)
    expect(entered).to.deep.equal([0, 1, 2, 3, 4, 5])
  })

  it('A semaphore whose release was not heard is looked at within 30 s, once (S1)', async () => {
    const scripts = new SentScripts()
    const clock = new FastClock(20)
    const { semaphore, name, sleeps } = await newSemaphore(
      0,
      await createRedisson({}, { clock, transport: scripts.transport }),
    )
    const waiting = Array.from({ length: 1_000 }, () => semaphore.acquire())
    await sleeps(1_000)
    const tries = () =>
      scripts.sent.filter((sent) => sent.name === 'semaphore/acquire' && !sent.bySource).length
    const before = tries()
    const started = clock.now()
    // 36 s of it: idle waiters do not poll.
    await sleep(1_800)
    expect(tries() - before).to.be.within(1, 2)
    await redis.set(name, 1_000)
    await waiting[0]
    expect(clock.elapsedSince(started)).to.be.below(100_000)
    await Promise.all(waiting)
  })

  it('A wait for a semaphore that does not exist warns after 5 s, and enters later (S8)', async () => {
    const { semaphore } = await newSemaphore(-1, await createRedisson({}, { clock: new FastClock(20) }))
    const warned = once(process, 'warning')
    const waiting = semaphore.acquire()
    const [warning] = await warned
    expect(warning).to.have.property('code', 'RLOCK_NO_SUCH_SEMAPHORE')
    expect(warning.message).to.contain(semaphore.getName())
    await semaphore.trySetPermits(1)
    await waiting
  })

  it('Waiters of a deleted semaphore enter once it is set; old permits do not count (S4, S9)', async () => {
    const { semaphore, name, sleeps } = await newSemaphore(1)
    const inside = deferred()
    const holding = semaphore.withPermits(() => inside.promise)
    await waitUntil('it is taken', async () => (await redis.get(name)) === '0')
    const waiting = semaphore.acquire()
    await sleeps()
    await redis.del(name)
    inside.resolve()
    await holding
    expect(await redis.exists(name)).to.equal(0)
    await semaphore.trySetPermits(1)
    await waiting
    expect(await redis.get(name)).to.equal('0')
    // Java's, and said so: it makes a semaphore.
    await redis.del(name)
    expect(await semaphore.releaseIfExists()).to.equal(false)
    await semaphore.release()
    expect(await redis.get(name)).to.equal('1')
  })

  it('withPermits releases once, answers as its function does, and times out', async () => {
    const { semaphore, name } = await newSemaphore(2)
    expect(await semaphore.withPermits(() => 'done', { permits: 2 })).to.equal('done')
    expect((await rejection(semaphore.withPermits(() => Promise.reject(new Error('no'))))).message).to.equal(
      'no',
    )
    expect(await redis.get(name)).to.equal('2')
    const late = await rejection(semaphore.withPermits(() => {}, { permits: 3, waitTime: 20 }))
    expect(late).to.have.property('code', 'LOCK_TIMEOUT')
    expect(late.message).to.contain(name)
  })

  it('shutdown() rejects the waiters for a semaphore, and acquired permits stay acquired (S3)', async () => {
    const { redisson, semaphore, name, sleeps } = await newSemaphore(1)
    await semaphore.acquire()
    const waiting = rejection(semaphore.acquire())
    await sleeps()
    await redisson.shutdown()
    expect(await waiting).to.have.property('code', 'REDISSON_SHUTDOWN')
    expect(await rejection(semaphore.acquire())).to.have.property('code', 'REDISSON_SHUTDOWN')
    expect(await redis.get(name)).to.equal('0')
  })

  it('A key that holds no count is a WrongTypeError to a semaphore, and stays as it is', async () => {
    const { semaphore, name } = await newSemaphore(-1)
    await redis.hset(name, 'field', '1')
    for (const call of [
      () => semaphore.acquire(),
      () => semaphore.tryAcquire(),
      () => semaphore.release(),
      () => semaphore.availablePermits(),
      () => semaphore.drainPermits(),
      () => semaphore.addPermits(1),
      () => semaphore.trySetPermits(1),
    ])
      expect(await rejection(call())).to.have.property('code', 'WRONG_TYPE')
    expect(await redis.hgetall(name)).to.deep.equal({ field: '1' })
  })

  it('Semaphores work in a cluster, between two clients', async function () {
    skipInMemory(this, NO_CLUSTER)
    const nodes = (await sharedCluster()).nodes.map(({ host, port }) => ({ host, port }))
    const first = await newSemaphore(1, await createRedisson({ redis: { nodes } }))
    const second = (await createRedisson({ redis: { nodes } })).getSemaphore(first.name)
    await second.acquire()
    const waiting = first.semaphore.acquire()
    await first.sleeps()
    await second.release()
    await waiting
  })

  it('Never more than its permits are inside a semaphore, and all of them are back in the end', async () => {
    const clients = await Promise.all([createRedisson(), createRedisson(), createRedisson()])
    const { name } = await newSemaphore(3, clients[0])
    let inside = 0
    let most = 0
    await Promise.all(
      Array.from({ length: 30 }, async (_, caller) => {
        const semaphore = clients[caller % 3]!.getSemaphore(name)
        for (let round = 0; round < 8; round++) {
          const permits = 1 + ((caller + round) % 3)
          await semaphore.withPermits(
            async () => {
              inside += permits
              most = Math.max(most, inside)
              await new Promise((resolve) => setImmediate(resolve))
              inside -= permits
            },
            { permits },
          )
        }
      }),
    )
    expect(most).to.equal(3)
    expect(await redis.get(name)).to.equal('3')
  })
})
