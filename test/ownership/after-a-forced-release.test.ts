import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { Redisson, RLock } from '../../src/index'
import { createRedisson, openRedis, rejection, uniqueName } from '../kit/clients'
import { waitUntil } from '../kit/servers/index'

type Lock = Pick<RLock, 'lock' | 'unlock' | 'tryAcquire' | 'acquire'>
type Kind = (redisson: Redisson, name: string) => Lock

const KINDS: Record<string, Kind> = {
  'a plain lock': (redisson, name) => redisson.getLock(name),
  'a fair lock': (redisson, name) => redisson.getFairLock(name),
  'a fenced lock': (redisson, name) => redisson.getFencedLock(name),
  'a non-reentrant lock': (redisson, name) => redisson.getNonReentrantLock(name),
  'a spin lock': (redisson, name) => redisson.getSpinLock(name),
  'a token lock': (redisson, name) => redisson.getTokenLock(name),
  'a write lock': (redisson, name) => redisson.getReadWriteLock(name).writeLock(),
  'a multi lock': (redisson, name) =>
    redisson.getMultiLock(redisson.getLock(name), redisson.getLock(`${name}:2`)),
}

/** The keys go without a message, so only the next grant can show that the hold before it is gone. */
for (const [kind, make] of Object.entries(KINDS))
  describe(`The next holder of ${kind} whose key was deleted`, () => {
    async function deleted(name: string) {
      const redis = await openRedis()
      await redis.del(name, `${name}:2`)
    }

    it(`keeps it when the caller before unlocks the same object of ${kind} (V133)`, async () => {
      const [own, other] = [await createRedisson(), await createRedisson()]
      const name = uniqueName('forced')
      const lock = make(own, name)
      const lost: string[] = []
      own.on('lockLost', ({ reason }) => lost.push(reason))
      await lock.lock()
      await deleted(name)
      await lock.lock(20_000)
      expect(lost).to.include('gone')
      expect((await rejection(lock.unlock())).code).to.equal('LOCK_LOST')
      expect(await make(other, name).tryAcquire()).to.equal(undefined)
      await lock.unlock()
      await (await make(other, name).tryAcquire())!.unlock()
    })

    it(`is alone: the hold before it has ended, also a LockHold of ${kind} (V133)`, async () => {
      const own = await createRedisson()
      const name = uniqueName('forced')
      const before = await make(own, name).acquire()
      await deleted(name)
      const next = await make(own, name).acquire()
      expect([before.isHeld, before.signal.aborted, next.isHeld]).to.deep.equal([false, true, true])
      await next.unlock()
    })
  })

describe('A listener that calls unlock()', () => {
  it('while another unlock() looks for what has ended, ends its own level only (V135)', async () => {
    const redisson = await createRedisson({ lockWatchdogTimeout: 3_000 })
    const redis = await openRedis()
    const lock = redisson.getReadWriteLock(uniqueName('listener')).readLock()
    const ended: Promise<unknown>[] = []
    redisson.on('lockLost', () => ended.push(rejection(lock.unlock())))
    await lock.lock()
    const began = performance.now()
    // Long before its first renewal, which is after a second.
    await sleep(500)
    await lock.lock()
    // The lease of the first one ends, and no timer can notice it: the look of unlock() does.
    while (performance.now() < began + 3_050);
    await lock.unlock()
    await waitUntil('the listener has called', () => ended.length > 0)
    await Promise.all(ended)
    expect(await redis.exists(lock.getName())).to.equal(0)
  })
})
