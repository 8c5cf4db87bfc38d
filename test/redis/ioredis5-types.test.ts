import { expect } from 'chai'
import type { ClusterOptions as ClusterOptions5, RedisOptions as RedisOptions5 } from 'ioredis5'
import type { RedissonOptions } from '../../src/index'
import { resolveTarget } from '../../src/redis/target/target'

describe('Options typed by ioredis 5', () => {
  // The compiler checks them; the run only looks at what is read of them.
  it('Options typed by ioredis 5 compile, for one server, behind Sentinel and for a cluster', () => {
    const one: RedisOptions5 = { host: 'h', port: 1, password: 'p' }
    const sentinel: RedisOptions5 = { sentinels: [{ host: 's', port: 2 }], name: 'm' }
    const options: ClusterOptions5 = { redisOptions: { password: 'p' }, natMap: {} }
    const nodes = ['redis://h:3']
    const given: RedissonOptions[] = [{ redis: one }, { redis: sentinel }, { redis: { nodes, options } }]
    expect(given.map(({ redis }) => resolveTarget(redis).kind)).to.deep.equal([
      'standalone',
      'sentinel',
      'cluster',
    ])
  })
})
