import type { KnownServer } from '../redis/fencing/server-identity'
import type { OutageReporter } from '../redis/outage-reporter'
import type { PublishCommand } from '../redis/pubsub'
import type { ChannelEvents, ChannelSource } from '../redis/subscriber'
import type { ScriptTransport } from '../scripts/transport'
import type { Clock } from '../util/clock'

/** Where a client connects to: Redis at an address, or a server inside the process. */
export interface Server {
  /** The clock of its clients, unless a test gives another. */
  readonly clock: Clock
  /** Credentials that may appear in no error. */
  readonly secrets: readonly string[]
  /** Rejects with RedisUnavailableError or RedisRefusedError, and leaves nothing open then. */
  connect(client: ConnectedClient): Promise<Connections>
}

/** What connections tell their client. */
export interface ConnectedClient {
  readonly clock: Clock
  /** Is notified of the trouble that connections meet. */
  readonly outages: OutageReporter
  readonly channels: ChannelEvents
  error(error: Error): void
  /** Another server may answer from now on, and it may not know what the last one knew. */
  newServer(): void
  /** These keys changed; undefined: any key may have. */
  keysChanged(keys: readonly string[] | undefined): void
  /** The primary lost its replicas. */
  replicasCutOff(): void
}

/** All connections of one client. */
export interface Connections {
  readonly isCluster: boolean
  /** There may be replicas to wait for. */
  readonly hasReplicas: boolean
  readonly publishCommand: PublishCommand
  /** Which server it is. */
  readonly identity: KnownServer
  readonly transport: ScriptTransport
  readonly source: ChannelSource
  readonly secrets: readonly string[]
  /** @internal For tests: what is open to a Redis. */
  readonly opened?: { readonly commands: object; readonly acknowledged: object | undefined }
  /** @internal Whether scripts take the fast path. */
  readonly usesFastPath: boolean
  /** So many holds whose keys `keysChanged` named were there all the same. */
  falselyNotified(holds: number): void
  close(): void
}
