import { expect } from 'chai'
import { createRedisson, uniqueName } from '../kit/clients'
import { clientAndRedis, lock, name, redisson } from '../kit/each-test'
import { deferred, warningsOfEachTest } from '../kit/observing'
import { waitUntil } from '../kit/servers/index'

describe('The RLOCK_SELF_WAIT warning', () => {
  const warnings = warningsOfEachTest(
    ({ code, message }) => code === 'RLOCK_SELF_WAIT' && message.includes(name),
  )

  clientAndRedis('self-wait')

  it("The RLOCK_SELF_WAIT warning comes once, after 5 s of a local caller's wait", async () => {
    await lock.lock()
    const started = performance.now()
    // The classic: a nested call outside any scope.
    const nested = [redisson.getLock(name).tryLock(8_000), lock.tryLock(8_000)]
    await waitUntil('the warning comes', () => warnings.length > 0)
    expect(performance.now() - started).to.be.greaterThan(4_900)
    expect(await Promise.all(nested)).to.deep.equal([false, false])
    expect(warnings).to.have.length(1)
    const { message } = warnings[0]!
    for (const word of [redisson.getId(), 'redisson.run()', 'withLock()', 'threadId'])
      expect(message).to.include(word)
    // Its story has been reported.
    expect(await lock.tryLock(300)).to.equal(false)
    expect(warnings).to.have.length(1)
    await lock.unlock()
  })

  it('The RLOCK_SELF_WAIT warning does not come for callers that each waited briefly', async () => {
    await lock.lock()
    const started = performance.now()
    while (performance.now() - started < 5_600) {
      expect(await lock.tryLock(100)).to.equal(false)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    expect(warnings).to.deep.equal([])
    await lock.unlock()
  })

  it('The RLOCK_SELF_WAIT warning does not come for a caller that waits for another client', async () => {
    const other = await createRedisson()
    const hold = await other.getLock(name).acquire()
    expect(await redisson.getLock(name).tryLock(5_600)).to.equal(false)
    expect(warnings).to.deep.equal([])
    await hold.unlock()
  })

  it('The RLOCK_SELF_WAIT warning comes for a branch that waits for a sibling that waits for it', async () => {
    const abort = new AbortController()
    await lock.withLock(async () => {
      const entered = deferred()
      const outside = redisson.getLock(uniqueName()).withLock(async () => {
        await entered.promise
        await lock.lock({ signal: abort.signal }).catch(() => {})
      })
      await lock.withLock(async () => {
        entered.resolve()
        await waitUntil('the warning comes', () => warnings.length > 0, 9_000)
        abort.abort()
        await outside
      })
    })
    expect(warnings[0]!.message).to.include('branches')
  })
})
