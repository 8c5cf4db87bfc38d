import type { Redis } from 'ioredis'

/** What a server has done and needs by now. */
export interface ServerState {
  readonly scripts: number
  /** µs */
  readonly cpu: number
  /** bytes */
  readonly memory: number
}

export async function serverState(redis: Redis): Promise<ServerState> {
  const text = `${await redis.info('commandstats')}${await redis.info('cpu')}${await redis.info('memory')}`
  const field = (pattern: string) => Number(new RegExp(`^${pattern}([\\d.]+)`, 'm').exec(text)?.[1] ?? 0)
  return {
    scripts: field('cmdstat_evalsha:calls='),
    cpu: (field('used_cpu_sys:') + field('used_cpu_user:')) * 1e6,
    memory: field('used_memory:'),
  }
}
