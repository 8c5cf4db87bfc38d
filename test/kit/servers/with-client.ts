import { Redis } from 'ioredis'
import type { Address } from './address'

/** A connection for one short piece of administration: it fails instead of retrying, and is closed after. */
export async function withClient<T>(
  { host, port }: Address,
  work: (client: Redis) => Promise<T>,
): Promise<T> {
  const client = new Redis({
    host,
    port,
    lazyConnect: true,
    enableReadyCheck: false,
    connectTimeout: 2000,
    commandTimeout: 5000,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    // Sentinels and older servers understand it as well.
    protocol: 2,
  })
  // The failing command already tells; without a listener ioredis would print it once more.
  client.on('error', () => {})
  try {
    await client.connect()
    return await work(client)
  } finally {
    client.disconnect()
  }
}

/** INFO as a map from field to value. */
export async function info(client: Redis, section: string): Promise<Map<string, string>> {
  const text = await client.info(section)
  return new Map(
    text
      .split('\r\n')
      .filter((line) => line.includes(':'))
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]),
  )
}
