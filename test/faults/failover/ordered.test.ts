import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { createRedisson, uniqueName } from '../../kit/clients'
import { ownSentinel, withClient } from '../../kit/servers/index'

const LEASE = 60_000

describe('A failover that is ordered from Sentinel', () => {
  const sentinel = ownSentinel()

  it('A primary whose writes are paused loses no lock, as it grants none (D4)', async () => {
    const { sentinels, name } = sentinel
    const addresses = sentinels.map(({ host, port }) => ({ host, port }))
    const redisson = await createRedisson({ redis: { sentinels: addresses, name }, slavesSyncTimeout: 100 })
    const granted: string[] = []
    let over = false
    const acquiring = (async () => {
      while (!over) {
        const key = uniqueName()
        const hold = await redisson.getLock(key).tryAcquire({ waitTime: 10_000, leaseTime: LEASE })
        if (hold) granted.push(key)
        await sleep(5)
      }
    })()
    while (granted.length === 0) await sleep(5)
    await withClient(await sentinel.primary(), (old) => old.call('CLIENT', 'PAUSE', 10_000, 'WRITE'))
    const before = granted.length
    await sentinel.failover()
    // Acquired from the new primary: the client has left the old one.
    while (granted.length < before + 3) await sleep(20)
    over = true
    await acquiring
    const kept = await withClient(await sentinel.primary(), (promoted) => promoted.exists(...granted))
    expect(kept).to.equal(granted.length)
  })
})
