import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { closeAll, createRedisson, timed, uniqueName } from '../kit/clients'

// The watchdog renews the read timeout key of every level of a read hold, also of a level with a lease of its own. When the
// level is released that needed the watchdog, the level with the lease keeps the watchdog's lease on the server: the client says
// that it has ended, and writers wait on (guarantee 6).
describe('A read hold with a lease, within which a renewed level was released', function () {
  this.timeout(60_000)
  afterEach(closeAll)

  it('ends for writers when its lease ends', async () => {
    const lockWatchdogTimeout = 9_000
    const one = await createRedisson({ lockWatchdogTimeout })
    const two = await createRedisson({ lockWatchdogTimeout })
    const name = uniqueName()
    const read = one.getReadWriteLock(name).readLock()
    await one.run(async () => {
      const outer = await read.acquire({ leaseTime: 4_000 })
      const inner = await read.acquire()
      await sleep(3_200) // the watchdog has renewed at 3 s
      await inner.unlock()
      await sleep(1_000)
      expect(outer.isHeld).to.equal(false)
      const waited = await timed(() => two.getReadWriteLock(name).writeLock().lock())
      expect(waited, 'the writer waited').to.be.lessThan(1_000)
    })
  })
})
