import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { Cluster } from 'ioredis'
import type { RedissonOptions } from '../../src/index'
import { createRedisson, uniqueName } from '../kit/clients'
import { SentScripts } from '../kit/sent-scripts'
import { ownCluster, waitUntil } from '../kit/servers/index'
import { waitingIn } from '../kit/sleepers'
import { VirtualClock } from '../kit/virtual-clock'

describe('A token lock across the slots of a cluster', () => {
  const cluster = ownCluster()
  let redis: Cluster
  let options: Pick<RedissonOptions, 'redis'>

  before(async () => {
    const nodes = cluster.nodes.map(({ host, port }) => ({ host, port }))
    options = { redis: { nodes } }
    redis = new Cluster(nodes)
  })
  after(async () => {
    redis?.disconnect()
  })

  it('A token lock in a cluster works in any slot, and wakes its waiters by message', async () => {
    const scripts = new SentScripts()
    const holder = await createRedisson(
      { ...options, lockWatchdogTimeout: 4_500 },
      { transport: scripts.transport },
    )
    // Time stands still for the waiter: only a message can wake it.
    const waiting = await createRedisson(options, { clock: new VirtualClock() })
    const names = ['a', 'b', 'c', 'd', 'e', 'f', '{g}:h'].map((prefix) => uniqueName(prefix))
    const holds = await Promise.all(names.map((name) => holder.getTokenLock(name).acquire()))
    const next = names.map((name) => waiting.getTokenLock(name).acquire())
    for (const name of names) await waitUntil('it waits', () => waitingIn(waiting, `token ${name}`).isAsleep)
    await waitUntil('they are renewed', () => scripts.count('token-lock/renew') >= 3)
    await sleep(100)
    for (const [index, name] of names.entries()) {
      expect(await redis.get(name)).to.match(/^[0-9a-f]{32}$/)
      expect(await redis.pttl(name)).to.be.above(1_500)
      expect(holds[index]!.isHeld).to.equal(true)
    }
    await Promise.all(holds.map((hold) => hold.unlock()))
    await Promise.all(next.map(async (acquiring) => (await acquiring).unlock()))
    for (const name of names) expect(await redis.exists(name)).to.equal(0)
  })
})
