import { expect } from 'chai'
import type { Redis } from 'ioredis'
import type { Redisson, RLock } from '../../src/index'
import { sharedStandalone, startProxy, type TcpProxy, waitUntil } from '../servers'
import { closeAll, createRedisson, openRedis, rejection, timed, uniqueName } from '../support/clients'
import { type ScriptSent, tapped } from '../support/tapped-transport'
import { expectNothingLeft, ForeignSide, listeners, look, shape } from './looking'
import { ScriptLog } from './script-log'

/** No test waits for this one: whoever sleeps through a wake-up is noticed. */
const LONG = 60_000
/** Far less than any lease, far more than a wake-up takes. */
const SOON = 4_000

for (const side of ['read', 'write'] as const) {
  describe(`read-write lock: waiting for the ${side} side`, () => {
    let redis: Redis
    let name = 'first'
    let foreign: ForeignSide
    let proxy: TcpProxy | undefined
    const of = (redisson: Redisson): RLock => {
      const lock = redisson.getReadWriteLock(name)
      return side === 'read' ? lock.readLock() : lock.writeLock()
    }
    const ACQUIRE = `${side}-lock/acquire`
    /** The n-th attempt of a client, counted from 1, is in the hands of `bend`. */
    const bending = (n: number, bend: (sent: ScriptSent) => Promise<unknown>) => {
      let attempts = 0
      return tapped((sent) => (sent.name === ACQUIRE && ++attempts === n ? bend(sent) : sent.pass()))
    }

    // The first use of a script on a server takes a second call, which would be counted here.
    before(async () => {
      const lock = of(await createRedisson())
      await lock.lock()
      await lock.unlock()
      await closeAll()
    })
    beforeEach(async () => {
      redis = await openRedis()
      name = uniqueName('rw')
      foreign = new ForeignSide(redis, name)
    })
    afterEach(async () => {
      await closeAll()
      await proxy?.stop()
      proxy = undefined
    })

    /** Returns when the client's waiter has made the attempt after which it may sleep. */
    const asleep = (log: ScriptLog) => waitUntil('the waiter sleeps', () => log.count(ACQUIRE) >= 2)

    it('atlas A1: a release between the failed try and the subscription is not missed', async () => {
      await foreign.write(1, LONG)
      const transport = bending(1, async (sent) => {
        const answer = await sent.pass()
        await foreign.free('1')
        return answer
      })
      const lock = of(await createRedisson({}, { transport }))
      expect(await timed(() => lock.lock())).to.be.below(SOON)
    })

    it('atlas A1: nor is one between the second try and the sleep', async () => {
      await foreign.write(1, LONG)
      const transport = bending(2, async (sent) => {
        const answer = await sent.pass()
        await foreign.free('1')
        return answer
      })
      const lock = of(await createRedisson({}, { transport }))
      expect(await timed(() => lock.lock())).to.be.below(SOON)
    })

    it('atlas A2: a wake-up whose waiter gives up goes to the next', async () => {
      await foreign.write(1, LONG)
      const aborted = new AbortController()
      const log = new ScriptLog()
      const transport = bending(3, async (sent) => {
        await Promise.resolve()
        aborted.abort(new Error('enough'))
        return await sent.pass()
      })
      const lock = of(await createRedisson({}, { transport: (real) => log.transport(transport(real)) }))
      const first = rejection(lock.lock({ signal: aborted.signal, threadId: 1 }))
      const second = lock.lock({ threadId: 2 })
      await asleep(log)
      const took = await timed(async () => {
        await foreign.free('1')
        await second
      })
      expect((await first).message).to.equal('enough')
      expect(took).to.be.below(SOON)
      expect(await lock.isHeldByThread(1)).to.equal(false)
      await waitUntil('what the first acquired is given back', async () => {
        const { readers, writers } = await shape(redis, name)
        return readers.length + writers.length === 1
      })
      await lock.unlock({ threadId: 2 })
      await expectNothingLeft(redis, name)
    })

    it('atlas A3: one waiter’s leaving, of either side, does not silence the others', async () => {
      await foreign.write(1, LONG)
      const log = new ScriptLog()
      const redisson = await createRedisson({}, { transport: log.transport })
      const rw = redisson.getReadWriteLock(name)
      const staying = of(redisson).lock({ threadId: 1 })
      await asleep(log)
      expect(await rw.readLock().tryLock({ threadId: 2, waitTime: 50 })).to.equal(false)
      expect(await rw.writeLock().tryLock({ threadId: 3, waitTime: 50 })).to.equal(false)
      const took = await timed(async () => {
        await foreign.free(side === 'read' ? '1' : '0')
        await staying
      })
      expect(took).to.be.below(SOON)
    })

    it('atlas A4: the channel is left once the last waiter has gone', async () => {
      await foreign.write(1, LONG)
      const lock = of(await createRedisson())
      const waiting = [1, 2, 3].map((threadId) => lock.tryLock({ threadId, waitTime: 150 }))
      await waitUntil('they listen', async () => (await listeners(redis, name)) === 1)
      expect(await Promise.all(waiting)).to.deep.equal([false, false, false])
      await waitUntil('nobody listens', async () => (await listeners(redis, name)) === 0, 5_000)
    })

    it('atlas A5: a release while the subscriber was away is noticed when it is back', async () => {
      proxy = await startProxy(await sharedStandalone())
      await foreign.write(1, LONG)
      const log = new ScriptLog()
      const lock = of(await createRedisson({ redis: proxy.url }, { transport: log.transport }))
      const waiting = lock.lock()
      await asleep(log)
      proxy.refuse()
      proxy.cut()
      await waitUntil('nobody listens', async () => (await listeners(redis, name)) === 0)
      await foreign.free('1')
      await proxy.accept()
      expect(await timed(() => waiting)).to.be.below(SOON)
    })

    it('atlas A6: after a dead holder it enters when the lease has run out', async () => {
      await foreign.write(1, 500)
      const lock = of(await createRedisson())
      expect(await timed(() => lock.lock())).to.be.within(350, 2_000)
    })

    it('atlas A7: tryLock(wait) answers in time, and holds nothing after false', async () => {
      await foreign.write(1, LONG)
      const lock = of(await createRedisson())
      const took = await timed(async () => expect(await lock.tryLock(300)).to.equal(false))
      expect(took).to.be.within(295, 1_300)
      await foreign.free('1')
      await expectNothingLeft(redis, name)
      await foreign.write(1, LONG)
      const waiting = lock.tryLock(LONG)
      await waitUntil('it listens', async () => (await listeners(redis, name)) === 1)
      await foreign.free('1')
      expect(await waiting).to.equal(true)
    })

    it('atlas A8: cancelled in the middle of a request means not held, and not renewed', async () => {
      const aborted = new AbortController()
      const transport = bending(1, async (sent) => {
        const answer = await sent.pass()
        aborted.abort(new Error('enough'))
        return answer
      })
      const lock = of(await createRedisson({ lockWatchdogTimeout: 600 }, { transport }))
      expect((await rejection(lock.lock({ signal: aborted.signal }))).message).to.equal('enough')
      await waitUntil('it was given back', async () => (await look(redis, name)).ttl === -2, 400, 5)
      await expectNothingLeft(redis, name)
    })

    it('atlas A9: a huge wait sleeps', async () => {
      await foreign.write(1, LONG)
      const log = new ScriptLog()
      const lock = of(await createRedisson({}, { transport: log.transport }))
      const waiting = lock.tryLock(2 ** 45)
      await asleep(log)
      await new Promise((resolve) => setTimeout(resolve, 200))
      expect(log.count(ACQUIRE)).to.equal(2)
      await foreign.free('1')
      expect(await waiting).to.equal(true)
    })

    it('atlas A10: a key without expiry is waited for by message, without spinning', async () => {
      await foreign.write(1)
      const log = new ScriptLog()
      const lock = of(await createRedisson({}, { transport: log.transport }))
      const waiting = lock.lock()
      await asleep(log)
      await new Promise((resolve) => setTimeout(resolve, 200))
      expect(log.count(ACQUIRE)).to.equal(2)
      await foreign.free('1')
      expect(await timed(() => waiting)).to.be.below(SOON)
    })

    it('atlas A10: and looked at again now and then', async () => {
      await foreign.write(1)
      const lock = of(await createRedisson({ lockWatchdogTimeout: 600 }))
      const waiting = lock.tryLock(SOON)
      await waitUntil('it listens', async () => (await listeners(redis, name)) === 1)
      await foreign.vanish()
      expect(await waiting).to.equal(true)
    })

    it('atlas A12, A13: a crowd asks once a message, and listens once', async () => {
      const warnings: string[] = []
      const warn = (warning: Error) => warnings.push(warning.name)
      process.on('warning', warn)
      try {
        await foreign.write(1, LONG)
        const log = new ScriptLog()
        const lock = of(await createRedisson({}, { transport: log.transport }))
        const { signal } = new AbortController()
        const crowd = Array.from({ length: 60 }, () => lock.acquire({ signal }))
        await asleep(log)
        for (let i = 1; i <= 3; i++) {
          await redis.publish(`redisson_rwlock:{${name}}`, i % 2 ? '0' : '1')
          await waitUntil('it asked again', () => log.count(ACQUIRE) === 2 + i)
        }
        await new Promise((resolve) => setTimeout(resolve, 100))
        expect(log.count(ACQUIRE)).to.equal(5)
        await foreign.free('1')
        for (const acquiring of crowd) {
          const hold = await acquiring
          if (side === 'write') await hold.unlock()
        }
        if (side === 'read') {
          expect((await shape(redis, name)).readers).to.have.length(60)
          await Promise.all(crowd.map(async (acquiring) => await (await acquiring).unlock()))
        }
        await expectNothingLeft(redis, name)
        expect(warnings).to.deep.equal([])
      } finally {
        process.off('warning', warn)
      }
    })
  })
}
