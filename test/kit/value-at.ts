import type { Redis } from 'ioredis'

/** What a lock's key holds, a hash or a string: by commands that every server has, the one in memory included. */
export async function valueAt(redis: Redis, key: string): Promise<unknown> {
  return (await redis.type(key)) === 'string' ? redis.get(key) : redis.hgetall(key)
}
