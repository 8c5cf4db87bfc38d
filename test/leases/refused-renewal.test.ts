import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { RedisRefusedError, type Redisson } from '../../src/index'
import { createRedisson, rejection, uniqueName } from '../kit/clients'
import { redis, redisAndName } from '../kit/each-test'
import { eventsOf } from '../kit/observing'
import { ownServer, waitUntil } from '../kit/servers/index'

/** ms */
const LEASE = 1_500

interface Held {
  readonly isHeld: boolean
  unlock?(): Promise<void>
  release?(): Promise<void>
}

/** What is held, and the command of its renewal that finds out whether it is still there. */
const RENEWED: Record<
  string,
  { command: string; acquire: (redisson: Redisson, name: string) => Promise<Held> }
> = {
  'a plain lock': { command: 'hexists', acquire: (redisson, name) => redisson.getLock(name).acquire() },
  'a write lock': {
    command: 'hexists',
    acquire: (redisson, name) => redisson.getReadWriteLock(name).writeLock().acquire(),
  },
  'a read lock': {
    command: 'hget',
    acquire: (redisson, name) => redisson.getReadWriteLock(name).readLock().acquire(),
  },
  'a token lock': { command: 'get', acquire: (redisson, name) => redisson.getTokenLock(name).acquire() },
  'a permit': {
    command: 'zscore',
    acquire: async (redisson, name) => {
      const semaphore = redisson.getPermitExpirableSemaphore(name)
      await semaphore.trySetPermits(1)
      return semaphore.acquirePermit()
    },
  },
}

/** Each asks first for what is there. */
const ASKED: Record<
  string,
  { command: string; call: (redisson: Redisson, name: string) => Promise<unknown> }
> = {
  'a semaphore': { command: 'get', call: (redisson, name) => redisson.getSemaphore(name).tryAcquire() },
  'a latch': { command: 'get', call: (redisson, name) => redisson.getCountDownLatch(name).countDown() },
  'a fenced lock': { command: 'get', call: (redisson, name) => redisson.getFencedLock(name).tryLock() },
  'a fair lock': { command: 'llen', call: (redisson, name) => redisson.getFairLock(name).tryLock() },
}

describe('A right that is missing inside a script', () => {
  const server = ownServer()

  redisAndName('test', { server })
  beforeEach(async () => {
    await redis.call('ACL', 'SETUSER', 'app', 'reset', 'on', '>pw', '~*', '&*', '+@all')
  })

  const asApp = () =>
    createRedisson({
      redis: server.url.replace('redis://', 'redis://app:pw@'),
      lockWatchdogTimeout: LEASE,
    })

  for (const [what, { command, acquire }] of Object.entries(RENEWED))
    it(`A renewal that the server refuses for a while loses no hold: ${what} (D6)`, async () => {
      const redisson = await asApp()
      const errors = eventsOf(redisson, 'error')
      const lost = eventsOf(redisson, 'lockLost')
      const hold = await acquire(redisson, uniqueName('renewed'))
      await redis.call('ACL', 'SETUSER', 'app', `-${command}`)
      await waitUntil('the refusal is reported', async () => errors.length > 0)
      await redis.call('ACL', 'SETUSER', 'app', '+@all')
      // The watchdog repeats the renewal before the lease of the acquisition ends.
      await sleep(LEASE)
      expect(hold.isHeld).to.equal(true)
      expect(lost).to.be.empty
      await (hold.unlock?.() ?? hold.release?.())
    })

  it('A key whose right is taken away costs the other locks no renewal (V129)', async () => {
    const [mine, taken] = ['mine', 'taken'].map((prefix) => uniqueName(prefix)) as [string, string]
    const redisson = await asApp()
    redisson.on('error', () => {})
    const lost: string[] = []
    redisson.on('lockLost', ({ lockName }) => lost.push(lockName))
    const failing: string[] = []
    redisson.on('renewalFailed', ({ lockName }) => failing.push(lockName))
    const acquire = (lockName: string) => redisson.getLock(lockName).acquire()
    const holds = await Promise.all([1, 2, 3].map((index) => acquire(`${mine}:${index}`)))
    await acquire(taken)
    await redis.call('ACL', 'SETUSER', 'app', 'resetkeys', '~mine:*')
    await waitUntil('that lock is lost', () => lost.length > 0)
    await sleep(LEASE)
    expect(lost).to.deep.equal([taken])
    expect(failing).to.deep.equal([taken])
    expect(holds.map(({ isHeld }) => isHeld)).to.deep.equal([true, true, true])
  })

  for (const [what, { command, call }] of Object.entries(ASKED))
    it(`A server that refuses to read a key says nothing of its type: ${what} (D6)`, async () => {
      const redisson = await asApp()
      await redis.call('ACL', 'SETUSER', 'app', `-${command}`)
      expect(await rejection(call(redisson, uniqueName('asked')))).to.be.instanceOf(RedisRefusedError)
    })
})
