import { expect } from 'chai'
import type { Redisson, RLock } from '../../src/index'
import { closeAll, createRedisson, openRedis, rejection, uniqueName } from '../kit/clients'

type Calls = 'lock' | 'unlock' | 'withLock' | 'isHeldByCurrentThread'
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
    let redisson: Redisson
    let name: string
    let own: ReturnType<Kind>

    beforeEach(async () => {
      redisson = await createRedisson()
      name = uniqueName('levels')
      own = make(redisson, name)
    })
    afterEach(closeAll)

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
  })
