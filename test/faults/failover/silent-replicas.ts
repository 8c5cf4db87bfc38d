import type { Redis } from 'ioredis'
import type { ClientInternals } from '../../../src/client/client-internals'
import type { Redisson, RedissonOptions } from '../../../src/index'
import { createRedisson, openRedis } from '../../kit/clients'
import { roles, through } from '../../kit/replication'
import { ownSentinel, type RedisNode, waitUntil } from '../../kit/servers/index'

/** A primary behind sentinels whose replicas can be stopped. Filled in before the tests of the suite. */
export interface SilentReplicas {
  readonly primary: RedisNode
  /** A client of the primary. */
  readonly redis: Redis
  /** The replicas acknowledge nothing from now on. */
  pause(): Promise<void>
  /** They go on, and have everything when this resolves. */
  resume(): Promise<void>
  /** A client that waits for replicas for `slavesSyncTimeout` ms at most. */
  connected(options?: Partial<RedissonOptions>, internals?: ClientInternals): Promise<Redisson>
}

/** To be called in a `describe`: sets the servers up before its tests, and has all replicas go on after each of them. */
export function setUpSilentReplicas(slavesSyncTimeout: number): SilentReplicas {
  const setup = ownSentinel()
  let replicas: readonly RedisNode[] = []
  const around = {
    pause: async () => void (await Promise.all(replicas.map((replica) => replica.pause()))),
    resume: async () => {
      await Promise.all(replicas.map((replica) => replica.resume()))
      await waitUntil('both replicas have everything', async () => {
        await around.redis.set('caught up', 1)
        return (await around.redis.wait(2, 1_000)) === 2
      })
    },
    connected: (options = {}, internals = {}) =>
      createRedisson({ redis: through(setup), slavesSyncTimeout, ...options }, internals),
  } as { -readonly [K in keyof SilentReplicas]: SilentReplicas[K] }

  before(async () => {
    const { primary, replicas: others } = await roles(setup)
    around.primary = primary
    replicas = others
  })
  beforeEach(async () => {
    around.redis = await openRedis(around.primary.url)
  })
  afterEach(() => around.resume())

  return around
}
