import type { ResolvedOptions } from '../api/options'
import { IN_PROCESS_SERVER } from '../api/redis-source'
import { choosePublish, openSource } from '../redis/listen/pubsub'
import { ReplicaAckConnection } from '../redis/replica-ack/connection'
import { CommandConnection } from '../redis/send/command-connection'
import { warnIfUnfenced } from '../redis/send/fences'
import { named } from '../redis/target/connection-name'
import { addressAndDatabase, loggingIn, resolveTarget } from '../redis/target/target'
import { systemClock } from '../util/clock'
import type { Server } from './connections'

/**
 * The server that the options name. Throws TypeError or RangeError for a `redis` option that makes no sense.
 */
export function serverOf(options: ResolvedOptions, clientId: string): Server {
  const { [IN_PROCESS_SERVER]: inProcess } = Object(options.redis) as { [IN_PROCESS_SERVER]?: Server }
  if (inProcess) return inProcess
  const target = named(loggingIn(resolveTarget(options.redis), options.credentials), `rlock:${clientId}`)
  return {
    clock: systemClock,
    address: addressAndDatabase(target),
    secrets: target.secrets,
    async connect(client) {
      const { clock } = client
      // A single server has no replicas that acknowledge, as with Redisson.
      const hasReplicas = target.kind !== 'standalone' && !options.skipLockSyncedSlaves
      const commands = hasReplicas
        ? new ReplicaAckConnection(target, client, options)
        : new CommandConnection(target, client)
      try {
        const asked = await commands.connect()
        const publishCommand = await choosePublish(asked, target, options, clock)
        const rights = warnIfUnfenced(asked, target, clock)
        const source = await openSource(commands, publishCommand, client)
        await rights
        commands.stopResending()
        return {
          isCluster: target.kind === 'cluster',
          publishCommand,
          identity: commands.identity,
          transport: commands,
          ...(commands instanceof ReplicaAckConnection && { replication: commands }),
          source,
          logsInAgain: target.options.credentials !== undefined,
          ping: (timeout) => commands.ping(timeout),
          close: () => commands.close(),
        }
      } catch (error) {
        commands.close()
        throw error
      }
    },
  }
}
