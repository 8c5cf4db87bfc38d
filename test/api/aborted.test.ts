import { expect } from 'chai'
import type { Redisson } from '../../src/index'
import { createRedisson, rejection } from '../kit/clients'
import { name, redis, redisAndName } from '../kit/each-test'
import { expectHandledRejections } from '../kit/observing'
import { SentScripts } from '../kit/sent-scripts'

describe('An acquisition with a signal', () => {
  expectHandledRejections()

  redisAndName('aborted')

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

  it('An acquisition with an aborted signal rejects with its reason, and sends nothing', async () => {
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

  it('An acquisition that is aborted while waiting rejects, and holds nothing later', async () => {
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

  it('An acquisition with a signal that aborts after it was acquired changes nothing', async () => {
    const redisson = await createRedisson()
    const controller = new AbortController()
    const hold = await redisson.getLock(name).acquire({ signal: controller.signal })
    controller.abort()
    expect(hold.isHeld).to.equal(true)
    expect(hold.signal.aborted).to.equal(false)
    await hold.unlock()
  })
})
