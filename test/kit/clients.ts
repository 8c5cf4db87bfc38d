import { Redis } from 'ioredis'
import type { ClientInternals } from '../../src/client/client-internals'
import { Redisson, type RedissonOptions } from '../../src/index'
import { closedAfterEach } from './closing'
import { defaultServer, inMemoryAt } from './stand-in'

export { rejection } from './rejection'

const opened: { close(): Promise<unknown> | unknown }[] = []
let names = 0

/** A client on the shared standalone server unless `redis` says otherwise; shut down after the test. */
export async function createRedisson(
  options: Partial<RedissonOptions> = {},
  { unavailableAfter, ...internals }: ClientInternals & Pick<RedissonOptions, 'unavailableAfter'> = {},
): Promise<Redisson> {
  const given = options.redis ?? (await defaultServer()).url
  const redis = inMemoryAt(given) ?? given
  const redisson = await Redisson.createWith({ unavailableAfter, ...options, redis }, internals)
  opened.push({ close: () => redisson.shutdown({ timeout: 0 }) })
  return redisson
}

/** A plain connection for looking at what is in Redis; closed after the test. */
export async function openRedis(url?: string): Promise<Redis> {
  const redis = new Redis(url ?? (await defaultServer()).url)
  opened.push({ close: () => redis.disconnect() })
  return redis
}

/** A lock name no other test uses. */
export function uniqueName(prefix = 'test'): string {
  return `${prefix}:${process.pid}:${++names}:${Math.random().toString(36).slice(2, 8)}`
}

/** Called after each test; before that, where a suite ends the server of its clients. */
export async function closeAll(): Promise<void> {
  await Promise.all(opened.splice(0).map((each) => each.close()))
}
closedAfterEach('client', closeAll)

/** Milliseconds that the work takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}
