import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { createRedisson, openRedis, rejection, timed, uniqueName } from '../kit/clients'
import { waitUntil } from '../kit/servers/index'
import { tapped } from '../kit/tapped-transport'

// The watchdog renews the read timeout key of every level of a read hold, also of a level with a lease of its own. When the
// level is released that needed the watchdog, the level with the lease keeps the watchdog's lease on the server: the client says
// that it has ended, and writers wait on (guarantee 6).
describe('A read hold with a lease, within which a renewed level was released', function () {
  this.timeout(60_000)

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

  it('unlock() of a read level succeeds where the level below has expired', async () => {
    let isFirst = true
    const transport = tapped(async (sent) => {
      if (sent.name !== 'read-lock/release' || sent.args[1] !== 1 || !isFirst) return await sent.pass()
      isFirst = false
      // By then the level below has ended, and its release has been answered.
      await sleep(100)
      return [4, Date.now() + 60_000]
    })
    const lock = (await createRedisson({}, { transport })).getReadWriteLock(uniqueName('levels')).readLock()
    const redis = await openRedis()
    await lock.lock({ threadId: 1, leaseTime: 300 })
    await lock.lock({ threadId: 1, leaseTime: 60_000 })
    await sleep(400)
    await lock.unlock({ threadId: 1 })
    expect(isFirst).to.equal(false)
    expect((await rejection(lock.unlock({ threadId: 1 }))).name).to.equal('LockLostError')
    await waitUntil('the key is gone', async () => (await redis.exists(lock.getName())) === 0)
  })
})
