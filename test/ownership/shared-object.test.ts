import { expect } from 'chai'
import type { RLock } from '../../src/index'
import { rejection, uniqueName } from '../kit/clients'
import { clientAndRedis, redisson } from '../kit/each-test'
import { warningsOfEachTest } from '../kit/observing'
import { waitUntil } from '../kit/servers/index'

type Warning = Error & { code?: string }

describe('A lock object that several callers without a scope share', () => {
  let lock: RLock
  const warnings = warningsOfEachTest()

  clientAndRedis()
  beforeEach(() => {
    lock = redisson.getLock(uniqueName('shared'))
  })

  const warned = async (code: string) => {
    await waitUntil(code, async () => warnings.some((warning) => warning.code === code))
    return warnings.filter((warning) => warning.code === code)
  }
  /** A warning is emitted in the next tick. */
  const noneWarned = async () => {
    await new Promise((resolve) => setImmediate(resolve))
    expect(warnings.map(({ code }) => code)).to.deep.equal([])
  }

  /** The commonest mistake: `unlock()` in `finally`, although `tryLock()` was false. */
  async function requestThatUnlocksAlways(): Promise<boolean> {
    const isMine = await lock.tryLock()
    await lock.unlock()
    return isMine
  }

  it('unlock() after a failed tryLock() warns once a client (RLOCK_SHARED_OBJECT)', async () => {
    await lock.lock()
    expect(await requestThatUnlocksAlways()).to.equal(false)
    const [{ message }] = (await warned('RLOCK_SHARED_OBJECT')) as [Warning]
    expect(message).to.contain('withLock()').and.to.contain(lock.getName()).and.to.contain(redisson.getId())
    await lock.lock()
    await requestThatUnlocksAlways()
    expect(await warned('RLOCK_SHARED_OBJECT')).to.have.length(1)
  })

  it('The same with a wait, and with a multi lock (RLOCK_SHARED_OBJECT)', async () => {
    const multi = redisson.getMultiLock(lock)
    await multi.lock()
    expect(await multi.tryLock(10)).to.equal(false)
    await multi.unlock()
    expect(await warned('RLOCK_SHARED_OBJECT')).to.have.length(1)
  })

  it("unlock() in finally after an aborted lock() warns: it frees another's lock", async () => {
    await lock.lock()
    const locking = lock.lock({ signal: AbortSignal.timeout(10) }).finally(() => lock.unlock())
    expect((await rejection(locking)).name).to.equal('TimeoutError')
    expect(await warned('RLOCK_SHARED_OBJECT')).to.have.length(1)
  })

  it('Correct calls do not warn: a tryLock() failed before, elsewhere, or still waiting', async () => {
    await lock.lock()
    const other = redisson.getLock(lock.getName())
    expect(await other.tryLock()).to.equal(false)
    const waiting = lock.tryLock(10_000)
    await lock.unlock()
    expect(await waiting).to.equal(true)
    await lock.unlock()
    await other.lock()
    expect(await lock.tryLock()).to.equal(false)
    await other.unlock()
    await lock.lock()
    await lock.unlock()
    await redisson.run(async () => {
      await lock.lock()
      expect(await redisson.run(() => lock.tryLock())).to.equal(false)
      await lock.unlock()
    })
    await noneWarned()
  })

  it('unlock() of a hold that has expired says that another hold of the same object stays', async () => {
    expect(await lock.tryLock({ leaseTime: 100 })).to.equal(true)
    await lock.lock()
    const { code, message } = await rejection(lock.unlock())
    expect(code).to.equal('LOCK_LOST')
    expect(message).to.contain('Another hold of it stays held until the next unlock()')
    await lock.unlock()
    await noneWarned()
  })

  it('A tryLock() that fails while its object holds the lock costs no look at the stack', async () => {
    await lock.lock()
    const { stackTraceLimit } = Error
    let stacks = 0
    Object.defineProperty(Error, 'stackTraceLimit', {
      configurable: true,
      get: () => stackTraceLimit,
      set: () => stacks++,
    })
    try {
      for (let times = 0; times < 10; times++) expect(await lock.tryLock()).to.equal(false)
    } finally {
      Object.defineProperty(Error, 'stackTraceLimit', { value: stackTraceLimit, writable: true })
    }
    expect(stacks).to.equal(0)
    await lock.unlock()
  })

  it('unlock() of a lock() that is not awaited says that it is in flight', async () => {
    const locking = lock.lock()
    const { message } = await rejection(lock.unlock())
    expect(message).to.contain('await it')
    await locking
    await lock.unlock()
    expect((await rejection(lock.unlock())).message)
      .to.contain('is not held by an earlier call of this lock object')
      .and.not.contain('await')
    await noneWarned()
  })
})
