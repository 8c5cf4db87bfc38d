import { expect } from 'chai'
import type { LockHold } from '../../src/index'
import { closeAll, createRedisson, openRedis, rejection, uniqueName } from '../kit/clients'
import { JumpingClock } from '../kit/jumping-clock'
import { leftIn } from '../kit/left-in'
import { waitUntil } from '../kit/servers/index'
import { tapped } from '../kit/tapped-transport'

const WATCHDOG = 3_000

describe('A hold that is lost while it is re-entered', () => {
  afterEach(closeAll)

  for (const kind of ['lock', 'readLock', 'writeLock'] as const)
    it(`A hold that is lost while it is re-entered is released, not renewed for ever: ${kind}`, async () => {
      const clock = new JumpingClock()
      const held: LockHold[] = []
      const looked: boolean[] = []
      const transport = tapped((sent) => {
        if (sent.name.endsWith('/reenter') && looked.length === 0) {
          // Its first copy breaks off, and before the next is sent somebody looks, past the deadline.
          clock.jumped += 2 * WATCHDOG
          looked.push(held[0]!.isHeld)
          return Promise.reject(new Error('Connection is closed.'))
        }
        return sent.pass()
      })
      const redisson = await createRedisson({ lockWatchdogTimeout: WATCHDOG }, { clock, transport })
      redisson.on('error', () => {})
      const lost: unknown[] = []
      redisson.on('lockLost', (event) => lost.push(event))
      const redis = await openRedis()
      const name = uniqueName()
      const lock = kind === 'lock' ? redisson.getLock(name) : redisson.getReadWriteLock(name)[kind]()
      const who = { threadId: 1 }
      held.push(await lock.acquire(who))

      expect(await rejection(lock.acquire(who))).to.have.property('code', 'LOCK_LOST')
      expect(looked).to.deep.equal([false])
      await waitUntil('it is released', async () => (await redis.exists(name)) === 0, WATCHDOG / 3)

      expect(await rejection(held[0]!.unlock())).to.have.property('code', 'LOCK_LOST')
      expect(lost).to.have.length(1)
      const nothingLeft = async () => Object.keys(leftIn(redisson)).length === 0
      await waitUntil('nothing of it is left', nothingLeft, 2 * WATCHDOG)
      // All its levels are settled: its caller starts afresh.
      await (await lock.acquire(who)).unlock()
    })
})
