import { Redis } from 'ioredis'

/** A connection whose reads the server remembers, and what it says of them on another one. */
export interface Tracked {
  readonly redis: Redis
  /** Keys named since the last call; `null` stands for "all of them". */
  named(): (string | null)[]
  /** How many messages came, over all. */
  messages: number
  close(): void
}

/**
 * By RESP2 and REDIRECT: ioredis drops the `invalidate` pushes of RESP3, and a redirection to a RESP3 connection is
 * such a push as well.
 */
export async function track(url: string, mode: readonly string[]): Promise<Tracked> {
  const redis = new Redis(url, { lazyConnect: true, replyMapping: 'legacy' })
  const listener = new Redis(url, { lazyConnect: true, protocol: 2 })
  redis.on('error', () => {})
  listener.on('error', () => {})
  await Promise.all([redis.connect(), listener.connect()])
  let named: (string | null)[] = []
  const id = await listener.client('ID')
  const tracked: Tracked = {
    redis,
    messages: 0,
    named() {
      const taken = named
      named = []
      return taken
    },
    close() {
      redis.disconnect()
      listener.disconnect()
    },
  }
  listener.on('messageBuffer', (_, keys: unknown) => {
    tracked.messages++
    named.push(...(Array.isArray(keys) ? keys.map(String) : [null]))
  })
  await listener.subscribe('__redis__:invalidate')
  if (mode.length > 0) await redis.call('CLIENT', 'TRACKING', 'ON', 'REDIRECT', String(id), ...mode)
  return tracked
}
