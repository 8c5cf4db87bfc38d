import { once } from 'node:events'
import { expect } from 'chai'
import type { Redisson, RLock } from '../../src/index'
import { openRedis, rejection, uniqueName } from '../kit/clients'
import { clientAndRedis, name, redisson } from '../kit/each-test'

type Calls = 'acquire' | 'lock' | 'unlock' | 'withLock' | 'isHeldByCurrentThread'
type Kind = (redisson: Redisson, name: string) => Pick<RLock, Calls>

const KINDS: Record<string, Kind> = {
  'a plain lock': (redisson, name) => redisson.getLock(name),
  'a multi lock': (redisson, name) =>
    redisson.getMultiLock(redisson.getLock(name), redisson.getLock(`${name}2`)),
  'a RedLock': (redisson, name) =>
    redisson.getRedLock(...['', '2', '3'].map((end) => redisson.getLock(`${name}${end}`))),
}

for (const [kind, make] of Object.entries(KINDS))
  describe(`Levels of ${kind} that a child thread left`, () => {
    let own: ReturnType<Kind>

    clientAndRedis('levels', { lockWatchdogTimeout: 600 })
    beforeEach(() => {
      own = make(redisson, name)
    })

    const isFree = async () => (await (await openRedis()).exists(name)) === 0

    it(`${kind}: as many unlock() as lock() release it, also within another withLock`, async () => {
      const other = redisson.getLock(uniqueName('other'))
      await redisson.run(async () => {
        await own.lock()
        await other.withLock(() => own.lock())
        await own.unlock()
        await own.unlock()
      })
      expect(await isFree()).to.equal(true)
    })

    it(`${kind}: its caller holds it in a withLock, though unlock() is refused there (V103)`, async () => {
      await own.withLock(async () => {
        expect(await own.isHeldByCurrentThread()).to.equal(true)
        expect(await rejection(own.unlock())).to.include({ code: 'ILLEGAL_MONITOR_STATE' })
        await own.lock()
        await own.unlock()
        expect(await own.isHeldByCurrentThread()).to.equal(true)
      })
      expect(await own.isHeldByCurrentThread()).to.equal(false)
      expect(await isFree()).to.equal(true)
    })

    it(`${kind}: once each level of a lost hold had its release, its caller acquires it again`, async () => {
      const threadId = 7
      await own.lock({ threadId })
      const hold = await own.acquire({ threadId })
      for (const key of [name, `${name}2`]) await (await openRedis()).del(key)
      await once(hold.signal, 'abort')
      expect(await rejection(own.unlock({ threadId }))).to.include({ code: 'LOCK_LOST' })
      expect(await rejection(hold.unlock())).to.include({ code: 'LOCK_LOST' })
      await own.lock({ threadId })
      await own.unlock({ threadId })
      expect(await isFree()).to.equal(true)
    })
  })
