import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { IllegalMonitorStateError, type LockHold, LockLostError } from '../../src/index'
import { createRedisson, rejection } from '../kit/clients'
import { lock, name, redis, redisson } from '../kit/each-test'
import { deferred, ownerOf, stillPending } from '../kit/observing'
import { waitUntil } from '../kit/servers/index'
import { branch, section, siblingScene, siblings } from './sibling-scene'

/** How a branch that waits below a hold, or is inside, comes to an end. */
describe('The end of a branch below a hold', () => {
  siblingScene()

  it('Waiting siblings may be aborted, and the others keep their order', async () => {
    await lock.withLock(async () => {
      const leave = deferred()
      const inside = lock.withLock(() => leave.promise)
      const abort = new AbortController()
      const aborted = Array.from({ length: 300 }, (_, index) =>
        rejection(lock.withLock(() => section.enter(-index), { signal: abort.signal })),
      )
      const patient = [1, 2, 3].map((each) => lock.withLock(() => section.enter(each)))
      const late = rejection(lock.withLock(() => section.enter(-1), { signal: abort.signal }))
      abort.abort(new Error('enough'))
      for (const error of [...(await Promise.all(aborted)), await late])
        expect(error.message).to.equal('enough')
      patient.push(lock.withLock(() => section.enter(4)))
      leave.resolve()
      await Promise.all([inside, ...patient])
      expect(section.order).to.deep.equal([1, 2, 3, 4])
      expect(section.most).to.equal(1)
      expect((await ownerOf(redis, name)).count).to.equal(1)
    })
    expect(await redis.exists(name)).to.equal(0)
  })

  it('Waiting siblings reject with LockLostError when the hold above them is lost', async () => {
    const lost = await rejection(
      lock.withLock(async () => {
        const leave = deferred()
        const inside = rejection(lock.withLock(() => leave.promise))
        const waiting = [
          rejection(lock.withLock(() => section.enter())),
          rejection(branch(() => lock.lock())),
        ]
        expect(await stillPending(Promise.race(waiting), 30)).to.equal(true)
        await lock.forceUnlock()
        for (const each of waiting) expect(await each).to.be.instanceOf(LockLostError)
        leave.resolve()
        expect(await inside).to.be.instanceOf(LockLostError)
      }),
    )
    expect(lost).to.be.instanceOf(LockLostError)
    expect(section.order).to.deep.equal([])
    await lock.withLock(() => siblings())
    expect(section.most).to.equal(1)
  })

  it('Waiting siblings acquire the lock anew, one by one, when the lease above them runs out', async () => {
    await redisson.run(async () => {
      await lock.lock(150)
      const leave = deferred()
      const inside = rejection(lock.withLock(() => leave.promise, { leaseTime: 100 }))
      const waiting = siblings()
      await waiting
      leave.resolve()
      expect(await inside).to.be.instanceOf(LockLostError)
      expect(section.order).to.deep.equal([0, 1, 2])
      expect(section.most).to.equal(1)
    })
  })

  it('Waiting siblings are rejected when the client shuts down', async () => {
    await redisson.run(async () => {
      await lock.lock()
      const leave = deferred()
      const inside = lock.withLock(() => leave.promise)
      const waiting = rejection(branch(() => lock.lock()))
      expect(await stillPending(waiting, 30)).to.equal(true)
      const down = redisson.shutdown()
      expect((await waiting).code).to.equal('REDISSON_SHUTDOWN')
      leave.resolve()
      await inside
      await lock.unlock()
      await down
    })
  })

  it('A branch that left a level behind is no longer inside once its thread has ended', async () => {
    await redisson.run(async () => {
      await lock.lock()
      await branch(() => lock.lock())
      expect((await ownerOf(redis, name)).count).to.equal(2)
      await lock.withLock(() => section.enter(1))
      // What the branch left behind is still its holder's to release.
      await lock.unlock()
      await lock.unlock()
      expect(await redis.exists(name)).to.equal(0)
    })
  })

  it('The next sibling enters when a thread ends, and its rest releases its own level', async () => {
    await redisson.run(async () => {
      await lock.lock()
      const go = deferred()
      let left!: Promise<Error>
      const first = branch(async () => {
        await lock.lock()
        left = go.promise.then(async () => {
          await lock.unlock()
          return await rejection(lock.unlock())
        })
        await sleep(5)
      })
      await sleep(0)
      const second = lock.withLock(() => section.enter())
      await first
      await second
      // It may still release its own level, and no other.
      go.resolve()
      expect(await left).to.be.instanceOf(IllegalMonitorStateError)
      expect((await ownerOf(redis, name)).count).to.equal(1)
      await lock.unlock()
    })
    expect(await redis.exists(name)).to.equal(0)
  })

  it('A call that waits when its thread ends acquires the lock as an unscoped caller', async () => {
    await redisson.run(async () => {
      await lock.lock()
      const leave = deferred()
      const first = lock.withLock(() => leave.promise)
      let left!: Promise<void>
      await branch(async () => {
        left = lock.lock()
      })
      leave.resolve()
      await first
      // It does not get in below the holder, for nothing would keep its siblings out.
      await lock.withLock(() => section.enter())
      expect(await stillPending(left, 30)).to.equal(true)
      const before = await ownerOf(redis, name)
      await lock.unlock()
      await left
      expect((await ownerOf(redis, name)).field).to.not.equal(before.field)
    })
    await lock.forceUnlock()
  })

  it('A branch leaves when its LockHold is released from elsewhere', async () => {
    await redisson.run(async () => {
      await lock.lock()
      const taken = deferred<LockHold>()
      const leave = deferred()
      const first = branch(async () => {
        taken.resolve(await lock.acquire())
        await leave.promise
      })
      const hold = await taken.promise
      const second = lock.withLock(() => section.enter())
      expect(await stillPending(second, 30)).to.equal(true)
      await hold.unlock()
      await second
      leave.resolve()
      await first
      await lock.unlock()
    })
    expect(await lock.isLocked()).to.equal(false)
  })

  it('unlock() of an ancestor releases its own level, and the branch below stays inside', async () => {
    await redisson.run(async () => {
      await lock.lock(60_000)
      const taken = deferred()
      const leave = deferred()
      const first = branch(async () => {
        await lock.lock()
        taken.resolve()
        await leave.promise
        await lock.unlock()
      })
      await taken.promise
      await lock.unlock()
      expect((await ownerOf(redis, name)).count).to.equal(1)
      expect(await rejection(lock.unlock())).to.be.instanceOf(IllegalMonitorStateError)
      expect(await branch(() => lock.tryLock())).to.equal(false)
      leave.resolve()
      await first
      expect(await redis.exists(name)).to.equal(0)
    })
  })

  it('Siblings go on one by one when the thread above them ends without waiting for them', async () => {
    let started!: Promise<unknown>
    await lock.withLock(() => {
      started = siblings()
    })
    await started
    expect(section.most).to.equal(1)
    expect(section.order).to.have.length(3)
    await waitUntil('the lock is free', async () => !(await lock.isLocked()))
  })

  it('A branch re-enters the hold it is inside of though a thread between has ended', async () => {
    await lock.withLock(async () => {
      let left!: Promise<unknown>
      const go = deferred()
      await branch(async () => {
        left = lock.withLock(async () => {
          await go.promise
          await lock.withLock(() => section.enter())
        })
      })
      go.resolve()
      await left
    })
    expect(section.order).to.have.length(1)
  })

  it('Branches that waited before an ancestor acquired the lock re-enter its hold', async () => {
    const other = await createRedisson()
    const held = await other.getLock(name).acquire()
    await redisson.run(async () => {
      const own = lock.lock()
      // They came later, or the lock would be theirs first.
      const waiting = siblings()
      expect(await stillPending(waiting, 50)).to.equal(true)
      await held.unlock()
      await own
      // The holder waits for them under its lock.
      await waiting
      await lock.unlock()
    })
    expect(section.most).to.equal(1)
    expect(section.order).to.deep.equal([0, 1, 2])
    expect(await lock.isLocked()).to.equal(false)
  })
})
