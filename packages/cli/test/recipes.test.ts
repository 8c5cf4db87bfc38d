import { expect } from 'chai'
import { RateType } from '../../../src/index'
import { createRedisson, uniqueName } from '../../../test/kit/clients'
import { freshServer, sharedStandalone, waitUntil } from '../../../test/kit/servers/index'
import { elect, once, takeSlot } from '../../recipes/src/index'
import type { Row } from '../src/model'
import { rlock } from './cli'

describe('rlock and what is built on locks', () => {
  it('rlock ls knows a rate limiter, an election with leader and term, and slots', async () => {
    const server = await freshServer()
    const { url } = server
    const redisson = await createRedisson({ redis: url, label: 'app' })
    const [limiter, election, slots] = [uniqueName('a'), uniqueName('b'), uniqueName('c')]
    await redisson.getRateLimiter(limiter).trySetRate(RateType.OVERALL, 5, 60_000)
    await redisson.getRateLimiter(limiter).acquire(2)
    const candidate = elect(redisson, election, { label: 'scheduler-1' })
    await waitUntil('it has noted itself', async () => (await candidate.leader())?.since !== undefined)
    for (let times = 0; times < 2; times++) await takeSlot(redisson, slots, 8)
    await once(redisson, uniqueName(), () => 1, { keep: 60_000 })
    const { json } = await rlock(['ls', '--redis', url, '--json'])
    const short = (json as Row[]).map(({ name, kind, value, holders }) => ({
      ...{ name, kind, value },
      holders: holders.map(({ count, label }) => [count, label]),
    }))
    expect(short).to.deep.equal([
      { name: limiter, kind: 'rate-limiter', value: 3, holders: [] },
      { name: election, kind: 'election', value: 1, holders: [[1, 'scheduler-1']] },
      {
        ...{ name: slots, kind: 'slots', value: null },
        holders: [
          [0, 'app'],
          [1, 'app'],
        ],
      },
    ])
    const [holder] = (json as Row[])[2]!.holders
    expect(holder!.ttl).to.be.within(1, 30_000)
    expect(holder!.heldFor).to.be.within(0, 60_000)
    const { out } = await rlock(['ls', '--redis', url])
    expect(out).to.contain('election (term 1)').and.contain('3 free')
    const shown = await rlock(['show', slots, '--redis', url, '--json'])
    expect(JSON.stringify(shown.json)).to.contain(`rlock_slots:{${slots}}`)
  })

  it('rlock unlock frees the lock of a leader that is stuck, and another candidate leads', async () => {
    const { url } = await sharedStandalone()
    const name = uniqueName()
    const first = elect(await createRedisson({ redis: url, lockWatchdogTimeout: 1_500 }), name)
    await waitUntil('the first leads', () => first.isLeader)
    const second = elect(await createRedisson({ redis: url }), name)
    const { code, json, err } = await rlock(['unlock', name, '--redis', url, '--yes', '--json'])
    expect([code, json[0]?.result], err).to.deep.equal([0, 'freed'])
    await waitUntil('another leads', () => second.isLeader || first.term === 2)
  })
})
