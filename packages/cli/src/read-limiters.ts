import type { Redis } from 'ioredis'
import { rateLimiterChannel, suffixed } from 'rlock/internal'
import { listeners, value } from './answers'
import type { Connection } from './connection'
import { isCount, type Row } from './model'

const OVERALL = '0'

/** Those of the hashes that are rate limiters. Their value is how many permits are left, where all clients share them. */
export async function readLimiters(
  connection: Connection,
  node: Redis,
  names: readonly string[],
): Promise<Row[]> {
  const read = await connection.ask(
    node,
    names.flatMap((name) => [
      ['hmget', name, 'rate', 'interval', 'type'],
      ['get', suffixed(name, 'value')],
      ['pttl', name],
    ]),
  )
  const found = names.flatMap((name, at) => {
    const [config, left, ttl] = read.slice(3 * at, 3 * at + 3).map(value)
    const [rate, interval, type] = (config ?? []) as string[]
    if (![rate, interval, type].every(isCount)) return []
    const free = type === OVERALL ? Number(left ?? rate) : null
    return [{ name, ttl: Number(ttl), free }]
  })
  const waiting = await listeners(
    connection,
    node,
    found.map(({ name }) => rateLimiterChannel(name)),
  )
  return found.map(({ name, ttl, free }, at) => ({
    ...{ name, kind: 'rate-limiter', mode: null, ttl, holders: [], moreHolders: 0 },
    ...{ waiting: { processes: waiting[at]!, callers: null, queue: null }, value: free },
  }))
}
