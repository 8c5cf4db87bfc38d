import { channel } from 'node:diagnostics_channel'
import { expect } from 'chai'
import { LockLostError } from '../../src/index'
import { rejection } from '../kit/clients'
import { clientAndRedis, lock, name, redisson } from '../kit/each-test'
import { internalsOf } from '../kit/internals'
import { leftIn } from '../kit/left-in'
import { deferred } from '../kit/observing'
import { waitUntil } from '../kit/servers/index'

const GRANTED = channel('tracing:rlock:hold:start')

/** Runs the calls as one caller. */
type As = (calls: (options: { threadId?: number }) => Promise<void>) => Promise<void>

const CALLERS: Record<string, As> = {
  'code without a thread': (calls) => calls({}),
  'a threadId': (calls) => calls({ threadId: 7 }),
  'a logical thread': (calls) => redisson.run(() => calls({})),
  'a branch of withLock': (calls) => redisson.getLock(`${name}, another`).withLock(() => calls({})),
  'a thread that has ended': async (calls) => {
    const ended = deferred()
    let left!: Promise<void>
    await redisson.run(() => {
      left = ended.promise.then(() => calls({}))
    })
    ended.resolve()
    await left
  },
}

describe('A hold that is lost after its grant, and before its lock() resolves', () => {
  clientAndRedis('lost-early', { lockWatchdogTimeout: 400 })

  /** Ends what is granted next on this lock at once. */
  function loseNext() {
    const lose = () => {
      const [lease] = internalsOf(redisson).leases.live.on(name)
      if (!lease) return
      GRANTED.unsubscribe(lose)
      lease.lose('gone')
    }
    GRANTED.subscribe(lose)
  }

  for (const [caller, as] of Object.entries(CALLERS)) {
    it(`The unlock() of ${caller} reports the loss, and ends nothing that came later`, async () => {
      await as(async (options) => {
        loseNext()
        await lock.lock(options)
        const error = await rejection(lock.unlock(options))
        expect(error).to.be.instanceOf(LockLostError)
        await lock.lock(options)
        expect(await lock.isLocked()).to.equal(true)
        await lock.unlock(options)
        expect(await lock.isLocked()).to.equal(false)
        expect(await rejection(lock.unlock(options))).to.have.property('code', 'ILLEGAL_MONITOR_STATE')
      })
      await waitUntil('nothing is left', () =>
        Object.keys(leftIn(redisson)).every((kept) => kept === 'channels'),
      )
    })
  }

  it('A re-entry that is lost before it resolves owes an unlock() like its outer level', async () => {
    await redisson.run(async () => {
      await lock.lock()
      const [lease] = internalsOf(redisson).leases.live.on(name)
      const entered = lock.lock()
      // The level is there: `lock()` resolves some microtasks later.
      const { levels } = lease as unknown as { levels: Set<unknown> }
      const add = levels.add.bind(levels)
      levels.add = (level) => {
        queueMicrotask(() => lease!.lose('gone'))
        return add(level)
      }
      await entered
      for (const _ of ['inner', 'outer'])
        expect(await rejection(lock.unlock())).to.be.instanceOf(LockLostError)
      await lock.lock()
      await lock.unlock()
      expect(await rejection(lock.unlock())).to.have.property('code', 'ILLEGAL_MONITOR_STATE')
    })
  })
})
