import { expect } from 'chai'
import { Redisson, TimeUnit } from '../../src/index'
import { openRedis, rejection } from '../kit/clients'
import { clientAndRedis, lock, name, redisson } from '../kit/each-test'
import { expectHandledRejections } from '../kit/observing'
import { SentScripts } from '../kit/sent-scripts'

describe('Arguments of the wrong kind', () => {
  const sent = new SentScripts()
  expectHandledRejections()

  clientAndRedis('arguments', {}, { transport: sent.transport })
  beforeEach(() => {
    sent.names.length = 0
  })

  async function expectTypeErrors(calls: (() => Promise<unknown>)[], message?: RegExp) {
    for (const call of calls) {
      const error = await rejection(call())
      expect(error, String(call)).to.be.instanceOf(TypeError)
      if (message) expect(error.message, String(call)).to.match(message)
    }
    expect(sent.names, 'sent').to.deep.equal([])
    expect(await (await openRedis()).exists(name)).to.equal(0)
  }

  it('Unknown options are refused, and named, by every call with options', async () => {
    const odd = { leaseTimeout: 5 } as object
    await expectTypeErrors(
      [
        () => lock.lock(odd),
        () => lock.tryLock(odd),
        () => lock.acquire(odd),
        () => lock.tryAcquire(odd),
        () => lock.withLock(() => {}, odd),
        () => lock.unlock(odd),
      ],
      /leaseTimeout/,
    )
    // Options of other calls are as unknown as misspelt ones.
    await expectTypeErrors([
      () => lock.lock({ waitTime: 5 } as object),
      () => lock.acquire({ waitTime: 5 } as object),
      () => lock.unlock({ leaseTime: 5 } as object),
    ])
  })

  it('A time that is no number is refused by the name that the call has for it', async () => {
    const permits = redisson.getPermitExpirableSemaphore(name)
    const text = '5' as never
    await expectTypeErrors(
      [
        () => permits.acquire(text, TimeUnit.SECONDS),
        () => permits.tryAcquire(text, TimeUnit.SECONDS),
        () => permits.acquire(text),
      ],
      /^(lease|wait)Time must be a number, and its unit a TimeUnit; got string/,
    )
    await expectTypeErrors([() => redisson.getSemaphore(name).trySetPermits(2, text)], /^timeToLive must be/)
  })

  it('Calls without a wait refuse a waitTime of a class too: its end would look acquired', async () => {
    class Settings {
      readonly leaseTime = 5_000
      get waitTime() {
        return 1
      }
    }
    class OnlyWait {
      get waitTime() {
        return 1
      }
    }
    const permits = redisson.getPermitExpirableSemaphore(name)
    await expectTypeErrors(
      [
        () => lock.lock(new Settings()),
        () => lock.acquire(new Settings()),
        () => redisson.getMultiLock(lock).lock(new Settings()),
        () => permits.acquirePermit(new Settings()),
        () => redisson.getSemaphore(name).acquire(new OnlyWait() as object),
      ],
      /unknown option waitTime/,
    )
    expect(await lock.tryLock(new Settings())).to.equal(true)
  })

  const { signal } = new AbortController()
  for (const [title, value] of [
    ['null', null],
    ['an array', []],
    ['a function', () => {}],
    ['a string', '5'],
    ['a bigint', 5n],
    ['a Date', new Date()],
    ['a Map', new Map()],
    // Written by those who take it for the signature of other calls; it would be ignored silently.
    ['a signal', signal],
    ['a TimeUnit', TimeUnit.SECONDS],
  ] as [string, never][])
    it(`${title} is no options object`, async () => {
      await expectTypeErrors([
        () => lock.lock(value),
        () => lock.tryLock(value),
        () => lock.acquire(value),
        () => lock.tryAcquire(value),
        () => lock.withLock(() => {}, value),
        () => lock.unlock(value),
      ])
    })

  it('A number is no options object where only options are taken', async () => {
    await expectTypeErrors([
      () => lock.acquire(5 as never),
      () => lock.tryAcquire(5 as never),
      () => lock.withLock(() => {}, 5 as never),
      () => lock.unlock(5 as never),
    ])
  })

  it('A unit must be a TimeUnit, and must belong to a number', async () => {
    const lock = redisson.getLock(name) as unknown as Record<
      'lock' | 'tryLock',
      (...args: unknown[]) => Promise<unknown>
    >
    const unit = 'SECONDS' as never
    await expectTypeErrors(
      [
        () => lock.lock(5, unit),
        () => lock.tryLock(5, unit),
        () => lock.tryLock(5, 5, unit),
        () => redisson.getSemaphore(name).tryAcquire(1, 5, unit),
        () => redisson.getCountDownLatch(name).await(5, unit),
      ],
      /TimeUnit/,
    )
    await expectTypeErrors([
      () => lock.lock(5, 1_000),
      () => lock.lock(5, null),
      () => lock.tryLock(5, 5, null),
      () => lock.tryLock(5, { leaseTime: 5 }),
      // The unit would be ignored silently, and ten seconds be ten milliseconds.
      () => lock.lock({ leaseTime: 10 }, TimeUnit.SECONDS),
      () => lock.tryLock({ waitTime: 10 }, TimeUnit.SECONDS),
      () => lock.tryLock({ waitTime: 10 }, 10, TimeUnit.SECONDS),
      () => lock.tryLock({ waitTime: 10 }, 10),
      () => lock.tryLock(5, TimeUnit.SECONDS, 5),
      () => lock.tryLock(5, TimeUnit.SECONDS, TimeUnit.SECONDS),
    ])
  })

  for (const value of [null, 'signal', 5, {}, { aborted: true }, new AbortController()] as never[])
    it(`${JSON.stringify(value)} is no signal`, async () => {
      await expectTypeErrors(
        [
          () => lock.lock({ signal: value }),
          () => lock.tryLock({ signal: value }),
          () => lock.acquire({ signal: value }),
          () => lock.tryAcquire({ signal: value }),
          () => lock.withLock(() => {}, { signal: value }),
        ],
        /signal/,
      )
    })

  it('withLock and run take functions', async () => {
    for (const value of [undefined, null, 5, 'fn', {}, Promise.resolve()] as never[])
      await expectTypeErrors([() => lock.withLock(value), () => redisson.run(value)], /function/)
    await expectTypeErrors([() => lock.isHeldByThread(undefined as never)])
  })

  it('getLock takes a name, and says what it got', () => {
    for (const value of [undefined, null, 5, {}, [], Symbol('name'), Buffer.from('name')] as never[])
      expect(() => redisson.getLock(value)).to.throw(
        TypeError,
        /the name of a lock, semaphore or latch must be a string/,
      )
    expect(() => redisson.getLock('')).to.throw(TypeError, /empty/)
  })

  it('on() and once() take an event of the client and a function', () => {
    for (const listen of ['on', 'once'] as const) {
      expect(() => redisson[listen]('lockLost', undefined as never)).to.throw(TypeError, /function/)
      expect(() => redisson[listen]('lost' as never, (() => {}) as never)).to.throw(TypeError, /lockLost/)
    }
  })

  it('A client is made by Redisson.create, and by nothing else', () => {
    const Unchecked = Redisson as unknown as new (options: object) => unknown
    expect(() => new Unchecked({ redis: 'redis://127.0.0.1:6379' })).to.throw(TypeError, /Redisson\.create/)
  })

  it('shutdown() takes known options and a timeout of 0 or more', async () => {
    for (const timeout of [-1, Number.NaN, '5', null, {}] as never[]) {
      const error = await rejection(redisson.shutdown({ timeout }))
      expect(error instanceof RangeError || error instanceof TypeError, String(timeout)).to.equal(true)
    }
    await expectTypeErrors([
      () => redisson.shutdown(null as never),
      () => redisson.shutdown(5 as never),
      () => redisson.shutdown({ timeOut: 5 } as never),
    ])
    // Refused means: still open.
    expect(await redisson.getLock(name).isLocked()).to.equal(false)
  })

  it('A method that was taken out of its lock says so', async () => {
    const { lock, tryLock, acquire, tryAcquire, withLock, unlock } = redisson.getLock(name)
    await expectTypeErrors(
      [
        () => lock(),
        () => tryLock(),
        () => acquire(),
        () => tryAcquire(),
        () => withLock(() => {}),
        () => unlock(),
      ],
      /taken out of its lock/,
    )
  })

  it('A method that was taken out of its client says so', async () => {
    const { getLock, getSemaphore, runOnce, ping } = redisson
    await expectTypeErrors(
      [
        async () => getLock(name),
        async () => getSemaphore(name),
        () => runOnce(name, () => {}, { atLeast: 1 }),
        () => ping(),
      ],
      /taken out of its client/,
    )
  })
})
