import { expect } from 'chai'
import type { Redis } from 'ioredis'
import type { Redisson } from '../../src/index'
import { sharedStandalone, startProxy, type TcpProxy, waitUntil } from '../servers'
import { closeAll, createRedisson, openRedis, rejection, uniqueName } from '../support/clients'
import { NobodysErrors } from '../support/observing'
import { SentScripts } from '../support/sent-scripts'

describe('an acquisition with a signal', () => {
  let redis: Redis
  let name: string
  const nobodys = new NobodysErrors()
  const proxies: TcpProxy[] = []

  beforeEach(async () => {
    nobodys.watch()
    redis = await openRedis()
    name = uniqueName('aborted')
  })
  afterEach(async () => {
    for (const proxy of proxies.splice(0)) await proxy.stop()
    await closeAll()
    await nobodys.expectNone()
  })

  const acquiring = (redisson: Redisson, signal: AbortSignal): (() => Promise<unknown>)[] => {
    const lock = redisson.getLock(name)
    return [
      () => lock.lock({ signal }),
      () => lock.tryLock({ signal, waitTime: 20_000 }),
      () => lock.acquire({ signal }),
      () => lock.tryAcquire({ signal, waitTime: 20_000 }),
      () => lock.withLock(() => {}, { signal }),
      () => redisson.run(() => lock.lock({ signal })),
      () => lock.lock({ signal, threadId: 9 }),
    ]
  }

  it('that has aborted already rejects with its reason, whatever that is, and sends nothing', async () => {
    const sent = new SentScripts()
    const redisson = await createRedisson({}, { transport: sent.transport })
    for (const reason of [new Error('enough'), 'a string', 0, null]) {
      for (const call of acquiring(redisson, AbortSignal.abort(reason)))
        expect(await rejection(call()), String(call)).to.equal(reason)
    }
    for (const call of acquiring(redisson, AbortSignal.abort()))
      expect((await rejection(call())).name).to.equal('AbortError')
    expect(sent.names).to.deep.equal([])
    expect(await redis.exists(name)).to.equal(0)
  })

  it('rejects with the reason while waiting, and the lock is not held once its holder is gone', async () => {
    const redisson = await createRedisson()
    const held = await (await createRedisson()).getLock(name).acquire()
    const controller = new AbortController()
    const rejected = acquiring(redisson, controller.signal).map((call) => rejection(call()))
    const reason = new Error('enough')
    controller.abort(reason)
    for (const error of await Promise.all(rejected)) expect(error).to.equal(reason)
    await held.unlock()
    expect(await redis.exists(name)).to.equal(0)
    // And nothing of theirs stands in the way.
    expect(await redisson.getLock(name).tryLock()).to.equal(true)
    await redisson.getLock(name).forceUnlock()
  })

  it('atlas A8: cancelled in the middle of its request means not held and not renewed', async () => {
    const proxy = await startProxy(await sharedStandalone())
    proxies.push(proxy)
    const redisson = await createRedisson({ redis: proxy.url, lockWatchdogTimeout: 20_000 })
    // From here on the server knows the script; else what is stalled would be its NOSCRIPT.
    await redisson.getLock(uniqueName('aborted')).lock(1_000)
    const controller = new AbortController()
    proxy.stallReplies()
    const rejected = rejection(redisson.getLock(name).lock({ signal: controller.signal }))
    await waitUntil('the server has acquired it', async () => (await redis.exists(name)) === 1)
    controller.abort(new Error('enough'))
    expect((await rejected).message).to.equal('enough')
    proxy.resume()
    // Well before its lease is over: by giving it back.
    await waitUntil('it is given back', async () => (await redis.exists(name)) === 0, 10_000)
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(await redis.exists(name)).to.equal(0)
  })

  it('atlas A8: a re-entry cancelled in the middle leaves the count as it was', async () => {
    const proxy = await startProxy(await sharedStandalone())
    proxies.push(proxy)
    const redisson = await createRedisson({ redis: proxy.url })
    const lock = redisson.getLock(name)
    await redisson.run(async () => {
      await lock.lock()
      // From here on the server knows the script; else what is stalled would be its NOSCRIPT.
      await lock.lock()
      await lock.unlock()
      const controller = new AbortController()
      proxy.stallReplies()
      const rejected = rejection(lock.lock({ signal: controller.signal }))
      await waitUntil('the server has counted it', async () =>
        Object.values(await redis.hgetall(name)).includes('2'),
      )
      controller.abort(new Error('enough'))
      expect((await rejected).message).to.equal('enough')
      proxy.resume()
      await lock.unlock()
    })
    expect(await redis.exists(name)).to.equal(0)
  })

  it('that aborts after it was acquired changes nothing', async () => {
    const redisson = await createRedisson()
    const controller = new AbortController()
    const hold = await redisson.getLock(name).acquire({ signal: controller.signal })
    controller.abort()
    expect(hold.isHeld).to.equal(true)
    expect(hold.signal.aborted).to.equal(false)
    await hold.unlock()
  })
})
