import { monitorEventLoopDelay } from 'node:perf_hooks'
import { expect } from 'chai'
import type { LockHold } from '../../src/index'
import { createRedisson, uniqueName } from '../kit/clients'
import { eventsOf } from '../kit/observing'
import { openProxy } from '../kit/proxies'
import { ownCluster, ownServer, waitUntil } from '../kit/servers/index'
import { tapped } from '../kit/tapped-transport'

const WATCHDOG = 90_000
/** Renewals by their turn come every thirty seconds: what is noticed within this was asked about before. */
const LONG_BEFORE_ITS_TURN = 15_000

describe('a holder whose connection came back', () => {
  const server = ownServer()

  it('A reconnect shows at once that the server restarted without its data', async () => {
    const redisson = await createRedisson({ redis: server.url, lockWatchdogTimeout: WATCHDOG })
    const lost = eventsOf(redisson, 'lockLost')
    const holds = await Promise.all([1, 2, 3].map(() => redisson.getLock(uniqueName()).acquire()))
    const signals = holds.map((hold) => hold.signal)
    await server.restart({ keepData: false })
    await waitUntil('the losses are reported', () => lost.length === 3, LONG_BEFORE_ITS_TURN)
    expect(lost.map(({ reason }) => reason)).to.deep.equal(['gone', 'gone', 'gone'])
    expect(signals.every((signal) => signal.aborted)).to.equal(true)
  })

  it('A second reconnect shows the second restart, and renews what came in between', async () => {
    const redisson = await createRedisson({ redis: server.url, lockWatchdogTimeout: WATCHDOG })
    const lost = eventsOf(redisson, 'lockLost')
    for (let times = 1; times <= 3; times++) {
      const hold = await redisson.getLock(uniqueName()).acquire()
      await server.restart({ keepData: false })
      await waitUntil('the loss is reported', () => lost.length === times, LONG_BEFORE_ITS_TURN)
      expect(lost.at(-1)!.threadId).to.equal(hold.threadId)
    }
  })

  it('After a reconnect thousands of holds are revalidated once each, in batches (B6)', async () => {
    const COUNT = 5_000
    const renewed: string[] = []
    let largest = 0
    const transport = tapped((sent) => {
      if (sent.name === 'lock/renew' && !sent.bySource) {
        renewed.push(...sent.keys)
        largest = Math.max(largest, sent.keys.length)
      }
      return sent.pass()
    })
    const proxy = await openProxy(server)
    const redisson = await createRedisson({ redis: proxy.url, lockWatchdogTimeout: WATCHDOG }, { transport })
    const lost = eventsOf(redisson, 'lockLost')
    const prefix = uniqueName()
    const holds = await Promise.all(
      Array.from({ length: COUNT }, (_, index) => redisson.getLock(`${prefix}:${index}`).acquire()),
    )
    const delay = monitorEventLoopDelay({ resolution: 10 })
    delay.enable()
    proxy.cut()
    await waitUntil('all were asked about', () => renewed.length >= COUNT)
    await waitUntil('nothing more is asked', quiet(renewed))
    delay.disable()
    expect(renewed).to.have.length(COUNT)
    expect(new Set(renewed).size).to.equal(COUNT)
    expect(largest).to.be.at.most(100)
    expect(delay.max / 1e6).to.be.below(500)
    expect(lost).to.deep.equal([])
    await Promise.all(holds.map((hold) => hold.unlock()))
  })

  describe('in a cluster', () => {
    const cluster = ownCluster()

    it('A cluster client soon learns of a node restarted empty, and keeps other holds', async () => {
      const nodes = cluster.nodes.map(({ host, port }) => ({ host, port }))
      const redisson = await createRedisson({ redis: { nodes }, lockWatchdogTimeout: WATCHDOG })
      const lost = eventsOf(redisson, 'lockLost')
      const holds: LockHold[] = []
      for (let index = 0; index < 30; index++) holds.push(await redisson.getLock(uniqueName()).acquire())
      // Its view of the cluster is on disk, its keys are not.
      await cluster.nodes[0]!.restart()
      await waitUntil('losses are reported', () => lost.length > 0, LONG_BEFORE_ITS_TURN)
      await waitUntil('that is all', quiet(lost))
      expect(lost.length).to.be.within(1, 29)
      expect(lost.every(({ reason }) => reason === 'gone')).to.equal(true)
      const lostNames = lost.map(({ lockName }) => lockName)
      for (const hold of holds) expect(hold.isHeld).to.equal(!lostNames.includes(hold.lockName))
    })
  })

  /** True once the list has not grown for a while. */
  function quiet(list: readonly unknown[]) {
    let seen = -1
    let since = 0
    return () => {
      if (list.length !== seen) since = performance.now()
      seen = list.length
      return performance.now() - since > 300
    }
  }
})
