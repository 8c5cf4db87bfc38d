import type { Redis } from 'ioredis'
import type { ClientInternals } from '../../src/client/client-internals'
import type { Redisson, RedissonOptions, RLock } from '../../src/index'
import { createRedisson, openRedis, uniqueName } from './clients'

/** What the test that runs now has of its own, where its `describe` calls one of the functions below. */
export let redisson: Redisson
export let redis: Redis
export let name: string
export let lock: RLock

interface OnServer {
  /** The shared standalone server unless it is given. */
  readonly server?: { readonly url: string } | undefined
}

/** For a `describe`: each test has a `name` that no other test uses. */
export function freshName(prefix?: string): void {
  beforeEach(() => {
    name = uniqueName(prefix)
  })
}

/** For a `describe`: each test has a `name`, and `redis`, a connection that looks at what is in Redis. */
export function redisAndName(prefix?: string, { server }: OnServer = {}): void {
  freshName(prefix)
  beforeEach(async () => {
    redis = await openRedis(server?.url)
  })
}

/** For a `describe`: each test has a `name`, `redis`, a client `redisson`, and as `lock` its plain lock of that name. */
export function clientAndRedis(
  prefix?: string,
  { server, ...options }: Partial<RedissonOptions> & OnServer = {},
  internals?: ClientInternals,
): void {
  redisAndName(prefix, { server })
  beforeEach(async () => {
    redisson = await createRedisson({ ...options, ...(server ? { redis: server.url } : {}) }, internals)
    lock = redisson.getLock(name)
  })
}
