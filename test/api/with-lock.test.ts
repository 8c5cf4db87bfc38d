import { expect } from 'chai'
import { createRedisson, rejection } from '../kit/clients'
import { clientAndRedis, name, redis, redisson } from '../kit/each-test'
import { waitUntil } from '../kit/servers/index'

describe('withLock()', () => {
  clientAndRedis('with-lock')

  it('withLock() waits for the function of a lost hold, and its error goes first', async () => {
    const failure = new Error('failed inside')
    let finished = false
    const rejected = redisson.getLock(name).withLock(async () => {
      await redis.del(name)
      await new Promise((resolve) => setTimeout(resolve, 20))
      finished = true
      throw failure
    })
    expect(await rejection(rejected)).to.equal(failure)
    expect(finished).to.equal(true)
  })

  it('withLock() does not call the function when its signal aborts before the lock is free', async () => {
    const other = await createRedisson()
    const held = await other.getLock(name).acquire()
    const controller = new AbortController()
    let called = false
    const waiting = redisson.getLock(name).withLock(
      () => {
        called = true
      },
      { signal: controller.signal },
    )
    controller.abort(new Error('enough'))
    expect((await rejection(waiting)).message).to.equal('enough')
    await held.unlock()
    expect(called).to.equal(false)
    // Its acquisition may reach the server after the release: it is released then.
    await waitUntil('the lock is free', async () => (await redis.exists(name)) === 0)
  })

  it('withLock() passes an abort that comes once it is inside: the function decides', async () => {
    const controller = new AbortController()
    const result = await redisson.getLock(name).withLock(
      () => {
        controller.abort()
        return 'went on'
      },
      { signal: controller.signal },
    )
    expect(result).to.equal('went on')
  })
})
