import type { ResolvedOptions } from '../api/options'
import { IN_PROCESS_SERVER } from '../api/redis-source'
import { CommandConnection } from '../redis/command-connection'
import { askToLook } from '../redis/inspection-channel'
import { choosePublish, openSource } from '../redis/pubsub'
import { ReplicaAckConnection } from '../redis/replica-ack/connection'
import { warnOfMissingRights } from '../redis/rights'
import { loggingIn, named, type RedisTarget, resolveTarget } from '../redis/target'
import { RedisScriptTransport } from '../scripts/transport'
import { systemClock } from '../util/clock'
import type { ConnectedClient, Connections, Server } from './connections'

/** The server that the options name. Throws TypeError or RangeError for a `redis` option that makes no sense. */
export function serverOf(options: ResolvedOptions, clientId: string, fastPath?: boolean): Server {
  const { [IN_PROCESS_SERVER]: inProcess } = Object(options.redis) as { [IN_PROCESS_SERVER]?: Server }
  if (inProcess) return inProcess
  const target = named(loggingIn(resolveTarget(options.redis), options.credentials), `rlock:${clientId}`)
  return {
    clock: systemClock,
    secrets: target.secrets,
    connect: (client) => connect(target, options, client, fastPath),
  }
}

async function connect(
  target: RedisTarget,
  options: ResolvedOptions,
  client: ConnectedClient,
  fastPath: boolean | undefined,
): Promise<Connections> {
  const { clock, outages } = client
  const renewAll = () => client.newServer()
  const commands = new CommandConnection(target, clock, outages, renewAll, fastPath)
  try {
    const asked = await commands.connect()
    const publishCommand = await choosePublish(asked, target, options, clock)
    const rights = warnOfMissingRights(asked, target, publishCommand, client.publishesOn, clock)
    const { source, ready } = openSource(commands, publishCommand, client)
    await ready
    await rights
    commands.stopResending()
    // The connection of acquisitions that a replica must acknowledge. A single server has none, as with Redisson.
    const acknowledged =
      target.kind === 'standalone'
        ? undefined
        : new ReplicaAckConnection(
            commands,
            {
              clock,
              slavesSyncTimeout: options.slavesSyncTimeout,
              checkLockSyncedSlaves: options.checkLockSyncedSlaves,
              onCutOff: () => client.replicasCutOff(),
              onNoWait: (error) => client.error(error),
            },
            renewAll,
          )
    return {
      isCluster: target.kind === 'cluster',
      hasReplicas: acknowledged !== undefined,
      publishCommand,
      identity: commands.server,
      transport: new RedisScriptTransport(commands, acknowledged),
      source,
      askToLook: (key) => askToLook(commands.redis, key),
      secrets: target.secrets,
      logsInAgain: target.options.credentials !== undefined,
      opened: { commands, acknowledged },
      get usesFastPath() {
        return commands.usesFastPath
      },
      ping: (timeout) => commands.ping(timeout),
      close() {
        acknowledged?.close()
        commands.close()
      },
    }
  } catch (error) {
    commands.close()
    throw error
  }
}
