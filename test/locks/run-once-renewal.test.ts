import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { Redisson } from '../../src/index'
import { closeAll, createRedisson, openRedis, uniqueName } from '../kit/clients'
import { sharedStandalone, startProxy, startSentinel, startStandalone, waitUntil } from '../kit/servers/index'

// A run of runOnce hands its key to the watchdog by one re-entry. If that one call fails, nothing tries again, although the
// lease goes on, and the server answers again long before its end (B1: a renewal is retried until the lease has certainly
// ended). The job goes on without the lock, no event says so, and another instance starts it.
describe('runOnce: the watchdog takes the key over although one call fails', function () {
  this.retries(0)
  this.timeout(90_000)
  const stops: (() => Promise<unknown>)[] = []
  afterEach(async () => {
    await closeAll()
    for (const stop of stops.splice(0)) await stop()
  })

  /** Two instances start one job; the second one when the lease of the first would be over without the watchdog. */
  async function runTwice(
    one: Redisson,
    two: Redisson,
    atLeast: number,
    lasts: number,
    at: number,
    trouble: () => Promise<unknown>,
  ) {
    const name = uniqueName()
    // The control: a lock that the watchdog renews.
    const control = await one.getLock(uniqueName()).acquire()
    let inside = 0
    let most = 0
    let lost = false
    const section = async (ms: number, signal?: AbortSignal) => {
      most = Math.max(most, ++inside)
      await sleep(ms)
      lost ||= signal?.aborted ?? false
      inside--
    }
    const job = one.runOnce(name, ({ signal }) => section(lasts, signal), { atLeast }).catch((error) => error)
    const troubled = trouble()
    await sleep(at)
    await two.runOnce(name, () => section(100), { atLeast: 1_000 })
    await Promise.all([job, troubled])
    expect(control.isHeld, 'a lock that the watchdog renews').to.equal(true)
    expect({ most, lost }).to.deep.equal({ most: 1, lost: false })
  }

  it('a server that is silent for 1.7 s', async () => {
    const server = await startStandalone()
    stops.push(() => server.stop())
    const times = { lockWatchdogTimeout: 6_000, unavailableAfter: 1_000 }
    const one = await createRedisson({ redis: server.url, ...times })
    const two = await createRedisson({ redis: server.url, ...times })
    const admin = await openRedis(server.url)
    // The lease lasts until 6.0 s, and the watchdog takes over at 3.0 s. The server is silent from 2.8 to 4.5 s.
    await runTwice(one, two, 6_000, 9_000, 6_800, async () => {
      await sleep(2_800)
      await admin.call('CLIENT', 'PAUSE', '1700', 'ALL')
    })
  })

  it('replicas that stand still for 4.5 s, with all options by default', async () => {
    const setup = await startSentinel()
    stops.push(() => setup.stop())
    const redis = { sentinels: setup.sentinels.map(({ host, port }) => ({ host, port })), name: setup.name }
    const one = await createRedisson({ redis })
    const two = await createRedisson({ redis })
    // The watchdog takes over at 4.0 s.
    await runTwice(one, two, 8_000, 19_000, 16_500, async () => {
      await sleep(3_500)
      await Promise.all(setup.nodes.slice(1).map((node) => node.pause()))
      await sleep(4_500)
      await Promise.all(setup.nodes.slice(1).map((node) => node.resume()))
    })
  })

  it('the answer to its acquisition came late (V172)', async () => {
    const proxy = await startProxy(await sharedStandalone())
    stops.push(() => proxy.stop())
    const redisson = await createRedisson({ redis: proxy.url })
    proxy.stallReplies()
    setTimeout(() => proxy.resume(), 600)
    const section = async ({ signal }: { signal: AbortSignal }) => {
      await sleep(1_500)
      expect(signal.aborted).to.equal(false)
    }
    expect(await redisson.runOnce(uniqueName(), section, { atLeast: 1_000 })).to.equal(true)
  })

  it('a release of an inner level does not reach the server: no longer lease stays (V170)', async () => {
    const proxy = await startProxy(await sharedStandalone())
    stops.push(() => proxy.stop())
    const redis = await openRedis()
    const redisson = await createRedisson({ redis: proxy.url }, { unavailableAfter: 500 })
    const lock = redisson.getLock(uniqueName())
    const job = async () => {
      await lock.lock(3_600_000)
      proxy.breakOff()
      await lock.unlock().catch(() => {})
    }
    await redisson.runOnce(lock.getName(), job, { atLeast: 2_000 })
    await proxy.accept()
    await waitUntil('the key is gone', async () => (await redis.exists(lock.getName())) === 0, 8_000)
  })
})
