import type { PublishCommand } from '../redis/listen/pubsub'
import type { ChannelSource } from '../redis/listen/subscriber'
import type { Replication } from '../redis/replica-ack/connection'
import type { ConnectedClient } from '../redis/reports/connected-client'
import type { CommandConnection } from '../redis/send/command-connection'
import type { ScriptTransport } from '../scripts/transport'
import type { Clock } from '../util/clock'

/** Where a client connects to: Redis at an address, or a server inside the process. */
export interface Server {
  /** The clock of its clients, unless a test provides another one. */
  readonly clock: Clock
  /** The address and the database as the options say. Two clients of one server may have different ones. */
  readonly address: string
  /** Credentials, which no error may contain. */
  readonly secrets: readonly string[]
  /** Rejects with RedisUnavailableError or RedisRefusedError; then it leaves no connection open. */
  connect(client: ConnectedClient): Promise<Connections>
}

/** All connections of one client. */
export interface Connections {
  readonly isCluster: boolean
  readonly publishCommand: PublishCommand
  /** Which server it is. */
  readonly identity: Readonly<CommandConnection['identity']>
  readonly transport: ScriptTransport
  readonly source: ChannelSource
  /** Absent where no answer waits for replicas. */
  readonly replication?: Replication
  /** Whether credentials that the server refuses are replaced soon. */
  readonly logsInAgain?: boolean
  /** Rejects if the server does not answer within `timeout` ms. Absent: the state of the transport tells. */
  ping?(timeout: number): Promise<void>
  close(): void
}
