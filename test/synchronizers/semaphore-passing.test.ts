import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { RSemaphore } from '../../src/index'
import { createRedisson, rejection, uniqueName } from '../kit/clients'
import { clientAndRedis, name, redis, redisAndName, redisson } from '../kit/each-test'
import { leftIn } from '../kit/left-in'
import { deferred, expectHandledRejections, stillPending } from '../kit/observing'
import { waitUntil } from '../kit/servers/index'
import { asleep } from '../kit/sleepers'
import { ScriptCounter, tapped } from '../kit/tapped-transport'

describe('Permits that go from one caller to the next of the same client', () => {
  clientAndRedis()
  expectHandledRejections()

  redisAndName()

  /** So many callers take so many sections each, one after the other. */
  async function sections(callers: number, rounds: number, section: (caller: number) => Promise<void>) {
    await Promise.all(
      Array.from({ length: callers }, async (_, caller) => {
        for (let round = 0; round < rounds; round++) await section(caller)
      }),
    )
  }

  it('A permit goes to the next local waiter without a script, never too many in use (S5)', async () => {
    const scripts = new ScriptCounter()
    const redisson = await createRedisson({}, { transport: scripts.transport })
    const semaphore = redisson.getSemaphore(uniqueName('semaphore'))
    await semaphore.trySetPermits(4)
    let inside = 0
    let most = 0
    const served: number[] = []
    const section = async (caller: number) => {
      served.push(caller)
      most = Math.max(most, ++inside)
      await new Promise((resolve) => setImmediate(resolve))
      inside--
    }
    await sections(32, 60, async (caller) => {
      if (caller % 2 === 0) return await semaphore.withPermits(() => section(caller))
      await semaphore.acquire()
      await section(caller)
      await semaphore.release()
    })
    expect(most).to.be.within(2, 4)
    expect(served).to.have.length(32 * 60)
    expect(scripts.of('semaphore/release')).to.be.lessThan(32 * 60 * 0.4)
    expect(scripts.of('semaphore/acquire')).to.be.lessThan(32 * 60 * 0.4)
    expect(await redis.get(semaphore.getName())).to.equal('4')
    const counts = Array.from(
      { length: 32 },
      (_, caller) => served.slice(-1_000).filter((c) => c === caller).length,
    )
    expect(Math.min(...counts), 'of the last thousand sections, a caller').to.be.greaterThan(15)
  })

  it('Another client that waits has permits in between, however hot the semaphore is here', async () => {
    const [hot, other] = await Promise.all([createRedisson(), createRedisson()])
    await hot.getSemaphore(name).trySetPermits(2)
    let isOver = false
    let sinceOther = 0
    let longest = 0
    const take = async (semaphore: RSemaphore, section: () => void) =>
      await semaphore.withPermits(async () => {
        section()
        await sleep(1)
      })
    const hotCallers = Array.from({ length: 12 }, async () => {
      while (!isOver) await take(hot.getSemaphore(name), () => sinceOther++)
    })
    for (let round = 0; round < 25; round++) {
      sinceOther = 0
      await take(other.getSemaphore(name), () => {
        longest = Math.max(longest, sinceOther)
      })
    }
    isOver = true
    await Promise.all(hotCallers)
    expect(longest, 'sections here during one wait there').to.be.lessThan(400)
    expect(await redis.get(name)).to.equal('2')
  })

  it('Callers who only pass permits on to each other leave the event loop to others', async () => {
    const semaphore = redisson.getSemaphore(uniqueName('semaphore'))
    await semaphore.trySetPermits(2)
    let sinceTurn = 0
    let most = 0
    let isOver = false
    const turn = () => {
      sinceTurn = 0
      if (!isOver) setImmediate(turn)
    }
    setImmediate(turn)
    await sections(8, 500, async () => {
      await semaphore.acquire()
      most = Math.max(most, ++sinceTurn)
      await semaphore.release()
    })
    isOver = true
    expect(most, 'sections in one turn of the event loop').to.be.lessThan(25)
  })

  it('A permit that is passed on in the moment of shutdown() is not lost (S3)', async () => {
    const watching = await createRedisson()
    const free = watching.getSemaphore(name)
    await free.trySetPermits(1)
    const semaphore = redisson.getSemaphore(name)
    await semaphore.acquire()
    const second = semaphore.acquire()
    await asleep(redisson, `semaphore ${name}`, 1)
    // From here on the permit is passed on.
    await semaphore.release()
    await second
    const third = semaphore.acquire().then(
      () => semaphore.release(),
      () => {},
    )
    await asleep(redisson, `semaphore ${name}`, 1)
    await new Promise<void>((done) =>
      setImmediate(() => {
        const released = semaphore.release()
        const closed = redisson.shutdown()
        void Promise.allSettled([released, third, closed]).then(() => done())
      }),
    )
    await waitUntil('the permit is back', async () => (await free.availablePermits()) === 1, 5_000)
  })

  it('shutdown() waits for withPermits() as for a hold, and loses none of its permits (V45)', async () => {
    const semaphore = redisson.getSemaphore(name)
    await semaphore.trySetPermits(2)
    const done = deferred<string>()
    const entered = deferred()
    const section = semaphore.withPermits(() => {
      entered.resolve()
      return done.promise
    })
    await entered.promise
    const ended = redisson.shutdown({ timeout: 20_000 })
    expect(await stillPending(ended)).to.equal(true)
    done.resolve('done')
    expect(await section).to.equal('done')
    await ended
    expect(await redis.get(name)).to.equal('2')
  })

  it('shutdown({ timeout: 0 }) loses no permit whose acquisition or release is in flight (V12)', async () => {
    const watching = (await createRedisson()).getSemaphore(uniqueName('semaphore'))
    await watching.trySetPermits(60)
    let taken = 0
    for (let round = 0; round < 60; round++) {
      const redisson = await createRedisson()
      const semaphore = redisson.getSemaphore(watching.getName())
      if (round % 3 === 0) await semaphore.acquire()
      const changing = round % 3 === 0 ? semaphore.release() : semaphore.acquire().then(() => taken++)
      const changed = changing.catch(() => {})
      for (let turn = 0; turn < round % 5; turn++) await new Promise((resolve) => setImmediate(resolve))
      await redisson.shutdown({ timeout: 0 })
      await changed
    }
    expect((await watching.availablePermits()) + taken).to.equal(60)
  })

  it('addPermits() with a negative number takes effect though permits are passed on', async () => {
    const [hot, other] = await Promise.all([createRedisson(), createRedisson()])
    await hot.getSemaphore(name).trySetPermits(20)
    let entered = 0
    const abort = new AbortController()
    const callers = Array.from({ length: 40 }, async () => {
      while (!abort.signal.aborted)
        await hot.getSemaphore(name).withPermits(
          async () => {
            entered++
            await sleep(2)
          },
          { signal: abort.signal },
        )
    }).map((caller) => caller.catch(() => {}))
    await waitUntil('it is hot', () => entered > 200)
    await other.getSemaphore(name).addPermits(-20)
    const before = entered
    await waitUntil('the debt is paid', async () => (await redis.get(name)) === '0', 5_000)
    expect(entered - before, 'callers that entered meanwhile').to.be.lessThan(600)
    const after = entered
    await sleep(50)
    expect(entered).to.equal(after)
    abort.abort(new Error('enough'))
    await Promise.all(callers)
  })

  it('An acquisition that is aborted while its command is sent takes no permit (S2)', async () => {
    const abort = new AbortController()
    const transport = tapped((sent) => {
      const reply = sent.pass()
      if (sent.name === 'semaphore/acquire') abort.abort(new Error('enough'))
      return reply
    })
    const redisson = await createRedisson({}, { transport })
    const semaphore = redisson.getSemaphore(uniqueName('semaphore'))
    await semaphore.trySetPermits(5)
    expect((await rejection(semaphore.acquire({ signal: abort.signal }))).message).to.equal('enough')
    await waitUntil('nothing is left', () => Object.keys(leftIn(redisson)).length === 0, 10_000)
    expect(await semaphore.availablePermits()).to.equal(5)
  })

  it('Thousands of waiters that leave at once do not stop the event loop', async () => {
    const semaphore = redisson.getSemaphore(name)
    await semaphore.trySetPermits(0)
    const abort = new AbortController()
    const waiting = Array.from({ length: 16_000 }, () =>
      rejection(semaphore.acquire({ signal: abort.signal })),
    )
    await asleep(redisson, `semaphore ${name}`, 16_000)
    const began = performance.now()
    abort.abort(new Error('enough'))
    expect(performance.now() - began).to.be.lessThan(1_500)
    await Promise.all(waiting)
  })

  it('A smaller request behind one that got passed permits gets what is free at once (S5)', async () => {
    const semaphore = redisson.getSemaphore(uniqueName())
    await semaphore.trySetPermits(3)
    await semaphore.acquire(3)
    const holder = semaphore.acquire(2).then(async () => {
      // By then the next waiter has asked: it wants two, and one is free.
      await sleep(4)
      await semaphore.release(2) // is passed on to it
    })
    const large = semaphore.acquire(2)
    let got = 0
    const small = semaphore.acquire(1).then(() => {
      got = Date.now()
    })
    await sleep(100)
    await semaphore.release(3)
    await holder
    await large
    const since = Date.now()
    await Promise.race([small, sleep(2_000)])
    const free = await semaphore.availablePermits()
    expect(
      got,
      `${free} permit(s) free, and the waiter for one still sleeps after ${Date.now() - since} ms`,
    ).not.to.equal(0)
  })
})
