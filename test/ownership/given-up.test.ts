import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { createRedisson, openRedis, rejection, timed, uniqueName } from '../kit/clients'
import { redis, redisAndName } from '../kit/each-test'
import { JumpingClock } from '../kit/jumping-clock'
import { openProxy } from '../kit/proxies'
import { sharedStandalone, waitUntil } from '../kit/servers/index'
import { asleep } from '../kit/sleepers'
import { latch, tapped } from '../kit/tapped-transport'

describe('what is given up half-way', () => {
  redisAndName()

  it('An acquisition that is aborted while it is queued behind an unlock() acquires nothing (A8)', async () => {
    const released = latch()
    const transport = tapped((sent) =>
      sent.name === 'lock/release' ? released.opened.then(sent.pass) : sent.pass(),
    )
    const redisson = await createRedisson({}, { transport })
    const lock = redisson.getLock(uniqueName())
    const abort = new AbortController()
    await redisson.run(async () => {
      await lock.lock()
      const unlocking = lock.unlock()
      const again = rejection(lock.lock({ signal: abort.signal }))
      abort.abort(new Error('enough'))
      expect((await again).message).to.equal('enough')
      released.open()
      await unlocking
    })
    expect(await redis.exists(lock.getName())).to.equal(0)
  })

  it('A waiter does not sleep for the TTL of a grant that was given up and deleted (V178)', async () => {
    const [acquired, deleted] = [latch(), latch()]
    let acquisitions = 0
    const transport = tapped(async (sent) => {
      if (sent.name === 'lock/release') await deleted.opened
      const answer = await sent.pass()
      if (sent.name === 'lock/acquire' && !sent.bySource && ++acquisitions === 1) await acquired.opened
      return answer
    })
    const redisson = await createRedisson({}, { transport })
    acquisitions = 10
    await redisson.getLock(uniqueName('loads the script')).lock()
    acquisitions = 0
    const lock = redisson.getLock(uniqueName())
    const abort = new AbortController()
    const first = rejection(lock.lock({ signal: abort.signal }))
    await waitUntil('it is applied', async () => (await redis.exists(lock.getName())) === 1)
    abort.abort(new Error('enough'))
    expect((await first).message).to.equal('enough')
    const second = lock.lock()
    await asleep(redisson, `lock ${lock.getName()}`)
    await redis.del(lock.getName())
    acquired.open()
    deleted.open()
    expect(await timed(() => second)).to.be.below(5_000)
    await lock.unlock()
  })

  it('An acquisition that is tried again after a late grant is released by a shutdown (V179)', async () => {
    const again = latch()
    let acquisitions = 0
    const transport = tapped(async (sent) => {
      const answer = await sent.pass()
      if (sent.name !== 'lock/acquire' || sent.bySource) return answer
      acquisitions++
      if (acquisitions === 1) await sleep(950)
      if (acquisitions !== 2) return answer
      again.open()
      await sleep(100)
      return answer
    })
    const redisson = await createRedisson({}, { transport })
    acquisitions = 10
    await redisson.getLock(uniqueName('loads the script')).withLock(() => {})
    acquisitions = 0
    const lock = redisson.getLock(uniqueName())
    const acquired = rejection(lock.acquire({ leaseTime: 1_000 }))
    await again.opened
    await redisson.shutdown({ timeout: 2_000 })
    expect((await acquired).code).to.equal('REDISSON_SHUTDOWN')
    expect(await (await openRedis()).exists(lock.getName())).to.equal(0)
  })

  it('A re-entry that was aborted and applied keeps the key no longer than the hold (A8)', async () => {
    const applied = latch()
    const transport = tapped((sent) => {
      const answer = sent.pass()
      return sent.name === 'lock/reenter'
        ? Promise.all([answer, applied.opened]).then(([value]) => value)
        : answer
    })
    const redisson = await createRedisson({}, { transport })
    const lock = redisson.getLock(uniqueName())
    const abort = new AbortController()
    await redisson.run(async () => {
      await lock.lock(1_000)
      const inner = rejection(lock.lock({ leaseTime: 3_600_000, signal: abort.signal }))
      await waitUntil('it is applied', async () => (await redis.pttl(lock.getName())) > 10_000)
      abort.abort(new Error('enough'))
      expect((await inner).message).to.equal('enough')
      applied.open()
      await waitUntil('the key is gone', async () => (await redis.exists(lock.getName())) === 0)
    })
  })

  it('A re-entry that was aborted and applied is taken back: count and lease (V167)', async () => {
    const redisson = await createRedisson()
    const lock = redisson.getLock(uniqueName())
    await redisson.run(async () => {
      await lock.lock()
      const abort = new AbortController()
      const inner = rejection(lock.lock({ leaseTime: 3_600_000, signal: abort.signal }))
      await new Promise(setImmediate)
      abort.abort(new Error('enough'))
      expect((await inner).message).to.equal('enough')
      await waitUntil('the key has the lease of the hold', async () => {
        const [field = ''] = await redis.hkeys(lock.getName())
        const [ttl, count] = [await redis.pttl(lock.getName()), await redis.hget(lock.getName(), field)]
        return ttl <= 30_000 && count === '1'
      })
      await lock.unlock()
    })
    expect(await redis.exists(lock.getName())).to.equal(0)
  })

  it('A partial unlock() that was not sent leaves no longer lease behind (V170)', async () => {
    const proxy = await openProxy(await sharedStandalone())
    const redisson = await createRedisson({ redis: proxy.url }, { unavailableAfter: 500 })
    const lock = redisson.getLock(uniqueName())
    await redisson.run(async () => {
      await lock.lock(1_500)
      await lock.lock(3_600_000)
      proxy.breakOff()
      expect((await rejection(lock.unlock())).code).to.equal('REDIS_UNAVAILABLE')
      await waitUntil('the hold has ended', async () => !(await lock.isHeldByCurrentThread()))
      await proxy.accept()
      await waitUntil('the key is gone', async () => (await redis.exists(lock.getName())) === 0)
    })
  })

  it('A partial unlock() that was not sent leaves no renewal of an explicit lease (B2)', async () => {
    const proxy = await openProxy(await sharedStandalone())
    const redisson = await createRedisson(
      { redis: proxy.url, lockWatchdogTimeout: 3_000 },
      { unavailableAfter: 400 },
    )
    const lock = redisson.getLock(uniqueName())
    await redisson.run(async () => {
      await lock.lock(1_500)
      await lock.lock()
      proxy.stall()
      expect((await rejection(lock.unlock())).code).to.equal('REDIS_UNAVAILABLE')
      proxy.resume()
      await waitUntil('the key is gone', async () => (await redis.exists(lock.getName())) === 0)
    })
  })

  it('An unlock() that was not sent is retried, though the clock is past the lease (B9)', async () => {
    const clock = new JumpingClock()
    const transport = tapped((sent) => {
      if (sent.name !== 'lock/release' || clock.jumped > 0) return sent.pass()
      clock.jumped = 60_000
      return Promise.reject(new Error('Connection is closed.'))
    })
    const redisson = await createRedisson({}, { clock, transport })
    const hold = await redisson.getLock(uniqueName()).acquire({ leaseTime: 20_000 })
    expect((await rejection(hold.unlock())).code).to.equal('REDIS_UNAVAILABLE')
    await waitUntil('it is released', async () => (await redis.exists(hold.lockName)) === 0)
  })

  it('A re-entry ends with its wait while the server is silent (A7)', async () => {
    const proxy = await openProxy(await sharedStandalone())
    const redisson = await createRedisson({ redis: proxy.url })
    const lock = redisson.getLock(uniqueName())
    await redisson.run(async () => {
      await lock.lock()
      proxy.stall()
      const took = await timed(() => rejection(lock.tryLock(100)))
      expect(took).to.be.lessThan(5_000)
      proxy.resume()
      await lock.unlock()
    })
  })

  it('An acquisition that is granted as shutdown() begins is released (guarantee 9)', async () => {
    for (let turns = 0; turns < 40; turns++) {
      let granted = () => {}
      const transport = tapped(async (sent) => {
        const answer = await sent.pass()
        if (sent.name === 'lock/acquire') granted()
        return answer
      })
      const redisson = await createRedisson({}, { transport })
      const lock = redisson.getLock(uniqueName())
      const down = new Promise<void>((resolve) => {
        granted = () => {
          void (async () => {
            for (let turn = 0; turn < turns; turn++) await Promise.resolve()
            await redisson.shutdown()
            resolve()
          })()
        }
      })
      await lock
        .acquire()
        // Held for a moment: a shutdown that overlooked the hold has closed everything by then.
        .then((hold) => sleep(5).then(() => hold.unlock()))
        .catch((error) => expect(error.code).to.equal('REDISSON_SHUTDOWN'))
      await down
      expect(await redis.exists(lock.getName()), `${turns} turns after`).to.equal(0)
    }
  })
})
