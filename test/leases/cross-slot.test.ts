import { expect } from 'chai'
import { closeAll, createRedisson, uniqueName } from '../kit/clients'
import { type ClusterProxy, startClusterProxy } from '../kit/cluster-proxy'
import { sharedCluster, waitUntil } from '../kit/servers/index'
import { tapped } from '../kit/tapped-transport'

const WATCHDOG = 3_000

describe('Behind a proxy that makes a cluster look like a single server', () => {
  let proxy: ClusterProxy

  beforeEach(async () => {
    proxy = await startClusterProxy(await sharedCluster())
  })
  afterEach(async () => {
    await closeAll()
    proxy.stop()
  })

  it('A hundred locks stay held, because renewals are grouped by slot after the first CROSSSLOT', async () => {
    const sizes: number[] = []
    const redisson = await createRedisson(
      { redis: { host: proxy.host, port: proxy.port }, lockWatchdogTimeout: WATCHDOG },
      {
        transport: tapped((sent) => {
          if (sent.name === 'lock/renew') sizes.push(sent.keys.length)
          return sent.pass()
        }),
      },
    )
    const trouble: unknown[] = []
    const note = (reported: unknown) => trouble.push(reported)
    for (const event of ['lockLost', 'renewalFailed', 'error'] as const) redisson.on(event, note)
    const name = uniqueName()
    const acquired = Array.from({ length: 100 }, (_, at) => redisson.getLock(`${name}:${at}`).acquire())
    const holds = await Promise.all(acquired)
    const started = performance.now()
    await waitUntil(
      'the locks have been held for two leases',
      () => performance.now() - started > 2 * WATCHDOG,
    )
    expect(holds.every((hold) => hold.isHeld)).to.equal(true)
    expect(await Promise.all(holds.map((hold) => hold.unlock()))).to.have.length(100)
    expect(trouble).to.deep.equal([])
    expect(proxy.refused).to.be.within(1, 3)
    // On a busy machine the refused batch may be small.
    expect(sizes.filter((size) => size > 10).length).to.be.at.most(proxy.refused)
  })

  it('A waiter is notified through it', async () => {
    const redis = { host: proxy.host, port: proxy.port }
    const [holder, other] = [await createRedisson({ redis }), await createRedisson({ redis })]
    const lock = uniqueName()
    const hold = await holder.getLock(lock).acquire()
    const waiting = other.getLock(lock).acquire()
    await waitUntil('it waits', () => other.stats().waiting === 1 && other.stats().channels === 1)
    await hold.unlock()
    await (await waiting).unlock()
  })
})
