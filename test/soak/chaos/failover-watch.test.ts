import { expect } from 'chai'
import { waitUntil } from '../../kit/servers/index'
import { sentinelTopology } from './world/sentinel'

describe('A chaos run behind Sentinel', () => {
  it('A chaos run behind Sentinel notices the begin and the end of each failover', async () => {
    const topology = await sentinelTopology([])
    const seen: string[] = []
    try {
      topology.onFailover!(
        () => seen.push('begun'),
        () => seen.push('over'),
      )
      await topology.killPrimary!('lock')
      await waitUntil('the end is noticed', async () => seen.includes('over'))
    } finally {
      await topology.stop()
    }
    expect(seen[0]).to.equal('begun')
  })
})
