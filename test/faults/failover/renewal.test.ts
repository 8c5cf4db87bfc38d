import { once } from 'node:events'
import { expect } from 'chai'
import type { LockHold } from '../../../src/index'
import { createRedisson, uniqueName } from '../../kit/clients'
import { eventsOf } from '../../kit/observing'
import { isRenewed, NO_PROXIES, replicateThroughProxies, roles, through } from '../../kit/replication'
import {
  freshSentinel,
  type RedisNode,
  type SentinelSetup,
  skipInContainers,
  type TcpProxy,
  withClient,
} from '../../kit/servers/index'

const LEASE = 6_000
const PATIENT = { unavailableAfter: 30_000 }

describe('A renewal that no replica has', () => {
  let setup: SentinelSetup
  let proxies: TcpProxy[] = []
  let primary: RedisNode
  let replicas: readonly RedisNode[]

  before(async function () {
    await skipInContainers(this, NO_PROXIES)
  })
  beforeEach(async () => {
    setup = await freshSentinel()
    // Who is in no hurry to fail over finds what the replicas have run out meanwhile.
    for (const sentinel of setup.sentinels)
      await withClient(sentinel, (client) =>
        client.call('SENTINEL', 'SET', setup.name, 'down-after-milliseconds', 60_000),
      )
    ;({ primary, replicas } = await roles(setup))
    proxies = await replicateThroughProxies(setup, primary, replicas)
  })

  const timeToLive = (node: RedisNode, name: string) => withClient(node, (client) => client.pttl(name))

  /** A hold that the replicas have; then they lag, and it has been renewed once without them. */
  async function renewedWithoutReplicas(): Promise<{ hold: LockHold; lost: unknown[] }> {
    const redisson = await createRedisson(
      { redis: through(setup), lockWatchdogTimeout: LEASE, slavesSyncTimeout: 300 },
      PATIENT,
    )
    const lost = eventsOf(redisson, 'lockLost')
    const name = uniqueName()
    const hold = await redisson.getLock(name).acquire()
    for (const proxy of proxies) proxy.stall()
    await isRenewed(primary, name)
    expect(await timeToLive(replicas[0]!, name)).to.be.below(await timeToLive(primary, name))
    // Its WAIT has been answered in vain, and the answer has arrived.
    await new Promise((resolve) => setTimeout(resolve, 600))
    return { hold, lost }
  }

  it('A renewal that no replica has does not count without its primary: the loss is told', async () => {
    const { hold } = await renewedWithoutReplicas()
    const aborted = once(hold.signal, 'abort')
    await primary.kill()
    await aborted
    for (const replica of replicas) expect(await timeToLive(replica, hold.lockName)).to.be.above(0)
    expect(hold.isHeld).to.equal(false)
  })

  it('A renewal that no replica has counts while the primary is there', async () => {
    const { hold, lost } = await renewedWithoutReplicas()
    await withClient(primary, (client) => client.call('CLIENT', 'KILL', 'TYPE', 'normal'))
    await new Promise((resolve) => setTimeout(resolve, 2 * LEASE))
    expect(hold.isHeld).to.equal(true)
    expect(lost).to.deep.equal([])
    await hold.unlock()
  })
})
