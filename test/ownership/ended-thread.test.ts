import { expect } from 'chai'
import { IllegalMonitorStateError, LockLostError } from '../../src/index'
import { createRedisson, rejection, uniqueName } from '../kit/clients'
import { clientAndRedis, lock, name, redis, redisson } from '../kit/each-test'
import { blockEventLoop, deferred, ownerOf, warningsOfEachTest } from '../kit/observing'
import { waitUntil } from '../kit/servers/index'

describe('Code that a logical thread left behind when it ended', () => {
  const warnings = warningsOfEachTest(({ code }) => code === 'RLOCK_THREAD_ENDED')

  clientAndRedis('ended')

  /** Runs `inside` as a thread, and `left` in what it leaves behind, once `go` is called. */
  async function leftBehind<T>(left: () => Promise<T>, inside: () => Promise<unknown> = async () => {}) {
    const start = deferred()
    let result!: Promise<T>
    await redisson.run(async () => {
      result = start.promise.then(left)
      await inside()
    })
    return {
      go: () => {
        start.resolve()
        return result
      },
    }
  }

  it('A superfluous unlock() in an ended thread does not release a hold of another caller', async () => {
    const left = await leftBehind(() => rejection(lock.unlock()))
    await lock.lock()
    const before = await ownerOf(redis, name)
    const error = await left.go()
    expect(error).to.be.instanceOf(IllegalMonitorStateError).and.not.instanceOf(LockLostError)
    expect(error.message).to.include('ended')
    expect(await ownerOf(redis, name)).to.deep.equal(before)
    expect(await lock.isHeldByCurrentThread()).to.equal(true)
    await lock.unlock()
  })

  it('unlock() of an ended thread waits for its lock() in flight, and ends what that acquires', async () => {
    const other = await lock.acquire()
    const left = await leftBehind(
      () => lock.unlock(),
      async () => void lock.lock(),
    )
    const unlocked = left.go()
    await other.unlock()
    await unlocked
    expect(await lock.isLocked()).to.equal(false)
  })

  it('unlock() in an ended thread neither releases nor settles a hold of another ended thread', async () => {
    const taken = await leftBehind(() => lock.lock())
    const stranger = await leftBehind(() => rejection(lock.unlock()))
    await taken.go()
    expect(await stranger.go()).to.be.instanceOf(IllegalMonitorStateError)
    expect(await redis.exists(name)).to.equal(1)
    await lock.forceUnlock()
    const another = await leftBehind(() => rejection(lock.unlock()))
    expect(await another.go()).to.not.be.instanceOf(LockLostError)
    expect(await rejection(lock.unlock())).to.not.be.instanceOf(LockLostError)
  })

  it('unlock() in an ended thread releases what that thread still holds, and then nothing more', async () => {
    const left = await leftBehind(
      async () => {
        await lock.unlock()
        await other.lock()
        return await rejection(lock.unlock())
      },
      () => lock.lock(),
    )
    const other = redisson.getLock(uniqueName('ended'))
    expect(await left.go()).to.be.instanceOf(IllegalMonitorStateError)
    expect(await redis.exists(name)).to.equal(0)
    await other.forceUnlock()
  })

  it('unlock() in an ended thread settles its lost hold, and leaves its successor alone', async () => {
    const left = await leftBehind(
      () => rejection(lock.unlock()),
      () => lock.lock(),
    )
    await lock.forceUnlock()
    await lock.lock()
    expect(await left.go()).to.be.instanceOf(LockLostError)
    expect(await lock.isHeldByCurrentThread()).to.equal(true)
    await lock.unlock()
  })

  it("unlock() in an ended thread settles its expired hold, not its successor's", async () => {
    const left = await leftBehind(
      async () => [await rejection(lock.unlock()), await rejection(lock.unlock())],
      () => lock.lock(40),
    )
    blockEventLoop(60)
    await lock.lock()
    const [first, second] = await left.go()
    expect(first).to.be.instanceOf(LockLostError)
    expect(second).to.be.instanceOf(IllegalMonitorStateError).and.not.instanceOf(LockLostError)
    expect(await lock.isHeldByCurrentThread()).to.equal(true)
    await lock.unlock()
  })

  it('unlock() in an ended thread releases what came after its end, no older hold', async () => {
    const free = redisson.getReadWriteLock(name).readLock()
    await free.lock()
    const left = await leftBehind(async () => {
      await free.lock()
      expect(await free.isHeldByCurrentThread()).to.equal(true)
      await free.unlock()
      expect(await free.isHeldByCurrentThread()).to.equal(false)
      return await rejection(free.unlock())
    })
    expect(await left.go()).to.be.instanceOf(IllegalMonitorStateError)
    expect(await free.isHeldByCurrentThread()).to.equal(true)
    await free.unlock()
    expect(await free.isLocked()).to.equal(false)
  })

  it("Two unlock() in an ended thread release its one level of an ancestor's hold only", async () => {
    const start = deferred()
    let left!: Promise<PromiseSettledResult<void>[]>
    await redisson.run(async () => {
      await lock.lock()
      await redisson.getLock(uniqueName('ended')).withLock(async () => {
        await lock.lock()
        left = start.promise.then(() => Promise.allSettled([lock.unlock(), lock.unlock()]))
      })
      // Another thread that has ended left a level, too.
      await redisson.getLock(uniqueName('ended')).withLock(() => lock.lock())
      start.resolve()
      const [first, second] = await left
      expect(first!.status).to.equal('fulfilled')
      expect(second).to.have.property('reason').instanceOf(IllegalMonitorStateError)
      expect((await ownerOf(redis, name)).count).to.equal(2)
      await lock.unlock()
      await lock.unlock()
    })
  })

  it('lock() and tryLock() in an ended thread warn once a client, by RLOCK_THREAD_ENDED', async () => {
    const other = await createRedisson()
    const left = await leftBehind(async () => {
      for (const client of [redisson, other])
        for (let round = 0; round < 2; round++) {
          const each = client.getLock(uniqueName('ended'))
          await each.lock()
          await each.unlock()
          expect(await each.tryLock()).to.equal(true)
          await each.unlock()
        }
    })
    await left.go()
    await waitUntil('the warnings come', () => warnings.length === 2)
    expect(warnings[0]!.message).to.include(redisson.getId())
    expect(warnings[1]!.message).to.include(other.getId())
    for (const word of ['redisson.run(next)', 'withLock()', 'acquire()', 'run()'])
      expect(warnings[0]!.message).to.include(word)
  })

  it('So does lock() of a multi lock', async () => {
    const both = redisson.getMultiLock(lock, redisson.getLock(uniqueName('ended')))
    const left = await leftBehind(async () => {
      await both.lock({ threadId: 4 })
      await both.unlock({ threadId: 4 })
      for (let round = 0; round < 2; round++) {
        await both.lock()
        await both.unlock()
      }
    })
    await left.go()
    await waitUntil('the warning comes', () => warnings.length > 0)
    await new Promise((resolve) => setImmediate(resolve))
    expect(warnings).to.have.length(1)
    expect(warnings[0]!.message).to.include(`MultiLock(`)
  })

  it('withLock(), acquire() and threadId in an ended thread do not warn, nor do calls elsewhere', async () => {
    const left = await leftBehind(async () => {
      await lock.withLock(() => {})
      await (await lock.acquire()).unlock()
      await lock.lock({ threadId: 4 })
      await lock.unlock({ threadId: 4 })
    })
    await left.go()
    await lock.lock()
    await lock.unlock()
    await redisson.run(async () => {
      await lock.lock()
      await lock.unlock()
    })
    // Warnings are emitted a tick later.
    await new Promise((resolve) => setImmediate(resolve))
    expect(warnings).to.deep.equal([])
  })

  it('ends its own level, although the thread left a lock() that waits for it (V152)', async () => {
    const other = await (await createRedisson()).getLock(name).acquire()
    let waiting!: Promise<void>
    const { go } = await leftBehind(
      async () => {
        await lock.lock()
        await lock.unlock()
      },
      async () => {
        waiting = redisson.getFairLock(name).lock()
      },
    )
    const done = go()
    await waitUntil('both wait', async () => redisson.stats().waiting === 2)
    await other.unlock()
    await done
    await waiting
  })
})
