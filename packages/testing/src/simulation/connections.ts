import type { Redis } from 'ioredis'
import { type InProcessServer, RedisUnavailableError } from 'rlock'
import {
  type ConnectedClient,
  type Connections,
  Fences,
  IN_PROCESS_SERVER,
  OutageReporter,
  pingOrDisconnect,
  ReplicaAckBatcher,
  reconnectUnless,
  type ScriptTransport,
  type SentScript,
  type Server,
  SubscriberConnection,
  withTimeout,
} from 'rlock/internal'
import { toReply } from '../bytes'
import type { SimulatedProcess } from './process'
import type { SimulatedServer } from './server'
import { SimulatedRedis } from './simulated-redis'

const CONNECT_TIMEOUT = 10_000

/** The connections of one client to one server, for faults. */
export interface ClientLinks {
  readonly commands: SimulatedRedis
  readonly messages: SimulatedRedis
  /** The connection of acquisitions that a replica acknowledges. */
  readonly acknowledged: SimulatedRedis | undefined
}

/** The `redis` option of a client in this process; `opened` is told its connections. */
export function simulatedSource(
  server: SimulatedServer,
  process: SimulatedProcess,
  opened: (links: ClientLinks) => void,
): InProcessServer {
  const source: Server = {
    clock: process,
    address: server.name,
    secrets: [],
    connect: (client) => connect(server, process, client, opened),
  }
  return { [IN_PROCESS_SERVER]: source }
}

const asRedis = (redis: SimulatedRedis) => redis as unknown as Redis

async function connect(
  server: SimulatedServer,
  process: SimulatedProcess,
  client: ConnectedClient,
  opened: (links: ClientLinks) => void,
): Promise<Connections> {
  const { clock, outages } = client
  const commands = new SimulatedRedis(server, process, 'commands')
  const messages = new SimulatedRedis(server, process, 'messages')
  const acknowledged = server.replica && new SimulatedRedis(server, process, 'acknowledged')
  const batcher =
    acknowledged &&
    new ReplicaAckBatcher(
      asRedis(acknowledged),
      () => server.runId,
      client,
      { slavesSyncTimeout: 1_000, checkLockSyncedSlaves: true },
      new OutageReporter(clock, client),
    )
  opened({ commands, messages, acknowledged })
  const fences = new Fences(asRedis(commands), clock)
  if (acknowledged) fences.watch('', asRedis(acknowledged))
  commands.on('error', (error: Error) => outages.failed(error))
  commands.on('ready', () => {
    outages.connected()
    client.newServer()
  })
  const source = new SubscriberConnection(asRedis(messages), false, clock, client.channels)
  let isClosed = false
  try {
    const all = [commands, messages, acknowledged].map((redis) => redis?.connect())
    for (const each of all) each?.catch(() => {})
    await withTimeout(Promise.all(all), CONNECT_TIMEOUT, clock, () => {
      throw new Error('no answer')
    })
  } catch (error) {
    for (const redis of [commands, messages, acknowledged]) redis?.disconnect()
    throw new RedisUnavailableError('The simulated Redis could not be reached', { cause: error })
  }
  reconnectUnless(() => isClosed, asRedis(commands), clock)
  return {
    isCluster: false,
    publishCommand: 'publish',
    identity: {
      address: commands.server.name,
      db: 0,
      get id() {
        return commands.server.runId
      },
    },
    transport: new SimulatedTransport(commands, acknowledged, batcher, fences.broken, process),
    ...(batcher && {
      replication: {
        primaryOf: () => server.runId,
        mayLack: () => true,
        askReplicas: () => void batcher.ask(),
      },
    }),
    source,
    close() {
      isClosed = true
      fences.close()
      batcher?.close()
      commands.disconnect()
    },
  }
}

class SimulatedTransport implements ScriptTransport {
  constructor(
    private readonly commands: SimulatedRedis,
    private readonly acknowledged: SimulatedRedis | undefined,
    private readonly batcher: ReplicaAckBatcher | undefined,
    private readonly broken: Fences['broken'],
    private readonly process: SimulatedProcess,
  ) {}

  get state() {
    const { status } = this.commands
    if (status === 'ready') return 'ready'
    return status === 'connect' ? 'loading' : 'away'
  }

  get lastBroken() {
    return this.broken.last
  }

  serverOf(): string {
    return ''
  }

  send(
    call: SentScript,
    bySource: boolean,
    answered: (value: unknown) => void,
    failed: (error: unknown) => void,
  ): void {
    this.on(this.commands, call, bySource, answered, failed)
  }

  mayHaveReplicas(): boolean {
    return this.acknowledged !== undefined
  }

  async sendAcknowledged(call: SentScript, bySource: boolean) {
    const { script, keys, args } = call
    const text = bySource ? script.source : script.sha
    this.acknowledged!.scriptNames.set(text, script.name)
    return await this.batcher!.send([bySource ? 'eval' : 'evalsha', text, keys.length, ...keys, ...args])
  }

  probe(): void {
    pingOrDisconnect(asRedis(this.commands), this.process)
    this.batcher?.probe()
  }

  private on(
    redis: SimulatedRedis,
    { script: { name, source, sha }, keys, args }: SentScript,
    bySource: boolean,
    answered: (value: unknown) => void,
    failed: (error: unknown) => void,
  ) {
    const { server } = redis
    const [names, words] = [[...keys], args.map(String)]
    const execute = () =>
      toReply(
        bySource
          ? server.engine.evaluate(source, names, words)
          : server.engine.evaluateBySha(sha, names, words),
      )
    redis.send(bySource ? 'eval' : 'evalsha', [name, ...names, ...words], execute, answered, failed)
  }
}
