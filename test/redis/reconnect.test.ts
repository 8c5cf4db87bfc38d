import { expect } from 'chai'
import type { Client } from '../../src/client/client'
import { createRedisson, uniqueName } from '../kit/clients'
import { type SentinelSetup, sharedSentinel, waitUntil } from '../kit/servers/index'

describe('A connection that is cut while it asks the sentinels', () => {
  let setup: SentinelSetup

  before(async () => {
    setup = await sharedSentinel()
  })

  // As ioredis does when a sentinel tells of a failover, and we with a connection that went silent.
  it('A connection cut while it asks the sentinels is opened again, for each purpose', async () => {
    const redis = { sentinels: setup.sentinels.map(({ host, port }) => ({ host, port })), name: setup.name }
    const redisson = await createRedisson({ redis })
    const lock = redisson.getLock(uniqueName())
    await lock.withLock(() => {})
    const opened = connectionsOf((redisson as unknown as { client: Client }).client)
    expect(opened).to.have.length(3)
    for (const connection of opened) {
      connection.disconnect(true)
      await waitUntil('it asks the sentinels', () => connection.status === 'connecting', 5_000, 0)
      connection.disconnect(true)
      await waitUntil('it is there again', () => connection.status === 'ready')
    }
    await lock.withLock(() => {})
  })
})

interface Connection {
  readonly status: string
  disconnect(reconnect: boolean): void
}

/** Internals, for nothing else decides when a connection is cut in the middle of its asking. */
function connectionsOf(client: Client): Connection[] {
  const { connections, subscriptions } = client as unknown as {
    connections: {
      transport: { redis: Connection; senders: Map<string, { redis: Connection }> }
    }
    subscriptions: { source: { redis: Connection } }
  }
  const { transport: commands } = connections
  return [
    commands.redis,
    subscriptions.source.redis,
    ...[...commands.senders.values()].map(({ redis }) => redis),
  ]
}
