import { once } from 'node:events'
import { expect } from 'chai'
import { type Permit, PermitNotHeldError, type RPermitExpirableSemaphore } from '../../src/index'
import { createRedisson, openRedis, rejection, uniqueName } from '../kit/clients'
import { FastClock } from '../kit/fast-clock'
import { internalsOf } from '../kit/internals'
import { SentScripts } from '../kit/sent-scripts'
import { waitUntil } from '../kit/servers/index'
import { tapped } from '../kit/tapped-transport'

const CALLS: Record<string, (semaphore: RPermitExpirableSemaphore, id: string) => Promise<unknown>> = {
  'release(id)': (semaphore, id) => semaphore.release(id),
  'release(ids)': (semaphore, id) => semaphore.release(['0'.repeat(32), id]),
  'tryRelease(id)': (semaphore, id) => semaphore.tryRelease(id),
  'tryRelease(ids)': (semaphore, id) => semaphore.tryRelease([id, '0'.repeat(32)]),
  'updateLeaseTime(id)': (semaphore, id) => semaphore.updateLeaseTime(id, 60_000),
}

describe('A permit and its id', () => {
  async function newSemaphore(internals?: Parameters<typeof createRedisson>[1], permits = 1) {
    const redisson = await createRedisson({ lockWatchdogTimeout: 1_500 }, internals)
    redisson.on('error', () => {})
    const name = uniqueName('permits')
    const semaphore = redisson.getPermitExpirableSemaphore(name)
    await semaphore.trySetPermits(permits)
    return { redisson, name, semaphore }
  }

  for (const [how, call] of Object.entries(CALLS))
    it(`${how} of a permit that its client holds as an object is a TypeError, and sends nothing`, async () => {
      const sent = new SentScripts()
      const { semaphore } = await newSemaphore({ transport: sent.transport }, 2)
      const [, permit] = [await semaphore.acquirePermit(), await semaphore.acquirePermit()]
      sent.names.length = 0
      const error = await rejection(call(semaphore, permit.id))
      expect(error).to.be.instanceOf(TypeError)
      expect(error.message).to.include('permit.release()').and.include(permit.id)
      expect(sent.names).to.deep.equal([])
      expect(permit.isHeld).to.equal(true)
      await permit.release()
      // From now on the id is one that is not in use, for this client as well.
      expect(await rejection(semaphore.release(permit.id))).to.be.instanceOf(PermitNotHeldError)
    })

  it('The keys of permits are under the mapped name', async () => {
    const redisson = await createRedisson({ nameMapper: { map: (name) => `test::${name}` } })
    const name = uniqueName('permits')
    const semaphore = redisson.getPermitExpirableSemaphore(name)
    await semaphore.trySetPermits(1)
    await semaphore.acquire()
    expect(await (await openRedis()).exists(`test::${name}`, `{test::${name}}:timeout`)).to.equal(2)
  })

  it('A permit that another client releases by its id is lost at the next renewal', async () => {
    const { name, semaphore, redisson } = await newSemaphore()
    const lost: string[] = []
    redisson.on('permitLost', ({ reason }) => lost.push(reason))
    const permit = await semaphore.acquirePermit()
    await (await createRedisson()).getPermitExpirableSemaphore(name).release(permit.id)
    if (!permit.signal.aborted) await once(permit.signal, 'abort')
    expect(permit.signal.reason).to.be.instanceOf(PermitNotHeldError)
    expect(lost).to.deep.equal(['gone'])
  })

  it('Calls that name a permit by its id take no longer where the client holds 5,000', async () => {
    const { semaphore } = await newSemaphore(undefined, 10_000)
    const ids = (await semaphore.acquire({ permits: 1_000, leaseTime: 600_000 }))!
    const permits: Permit[] = []
    while (permits.length < 5_000)
      permits.push(
        ...(await Promise.all(
          Array.from({ length: 500 }, () => semaphore.acquirePermit({ leaseTime: 600_000 })),
        )),
      )
    /** How long the calls keep the event loop busy before the first answer, in ms. */
    const time = async (call: (id: string) => Promise<unknown>, all: readonly string[]) => {
      const began = performance.now()
      const calls = all.map(call)
      const took = performance.now() - began
      await Promise.all(calls)
      return took
    }
    // A look at all permits for each call takes a quarter of a millisecond.
    const often = Array(8).fill(ids).flat()
    expect(await time((id) => semaphore.updateLeaseTime(id, 600_000), often)).to.be.below(1_000)
    const own = permits.map(({ id }) => id)
    expect(await time((id) => rejection(semaphore.release(id)), own)).to.be.below(1_000)
    await Promise.all([...permits.map((permit) => permit.release()), semaphore.release(ids)])
  })

  it('A permit without a lease whose release is refused is not retried for ever (V27)', async () => {
    let refused = 0
    const abort = new AbortController()
    const transport = tapped(async (sent) => {
      if (sent.name === 'permit-expirable-semaphore/acquire') {
        const reply = (await sent.pass()) as number[]
        if (reply[0] === 1) abort.abort(new Error('enough'))
        return reply
      }
      if (sent.name !== 'permit-expirable-semaphore/release') return await sent.pass()
      refused++
      throw new Error("NOPERM this user has no permissions to run the 'zrem' command")
    })
    const { redisson, semaphore } = await newSemaphore({ transport, clock: new FastClock(50) })
    const acquiring = semaphore.acquire({ permits: 1, signal: abort.signal })
    expect((await rejection(acquiring)).message).to.equal('enough')
    await waitUntil('it gave up', () => internalsOf(redisson).orphans.size === 0, 10_000)
    expect(refused).to.be.within(2, 200)
  })

  for (const [answer, code] of [
    ['NOPERM this user has no permissions', 'REDIS_REFUSED'],
    ['Connection is closed.', 'REDIS_UNAVAILABLE'],
  ] as const)
    it(`A permit whose release is answered ${answer.split(' ')[0]} is free soon after (V52)`, async () => {
      let isRefused = true
      const transport = tapped(async (sent) => {
        if (!isRefused || sent.name !== 'permit-expirable-semaphore/release') return await sent.pass()
        throw Object.assign(new Error(answer), code === 'REDIS_REFUSED' && { name: 'ReplyError' })
      })
      const { name, semaphore } = await newSemaphore({ transport, unavailableAfter: 300 })
      const permit = await semaphore.acquirePermit({ leaseTime: 3_600_000 })
      expect(await rejection(permit.release())).to.have.property('code', code)
      isRefused = false
      const redis = await openRedis()
      await waitUntil('the permit is free', async () => (await redis.get(name)) === '1')
    })
})
