import type { Clock, Moment } from '../util/clock'
import type { Inspected } from './inspection-channel'
import type { OutageReporter } from './outage-reporter'
import type { ChannelEvents } from './subscriber'

/** The client, as its connections see it: what they report to it. */
export interface ConnectedClient {
  readonly clock: Clock
  /** Receives the errors of the connections. */
  readonly outages: OutageReporter
  readonly channels: ChannelEvents
  error(error: Error): void
  /** Another server may answer from now on, and it may not have the data of the last one. */
  newServer(): void
  /** Answers inspectors; absent if the client must not be inspected. */
  readonly inspected: Inspected | undefined
  /** The replicas of this server (`Replication.primaryOf`) have all that it had answered by then. */
  replicated(server: string, by: Moment): void
  /** A server is gone, or lost its replicas. Its replicas may lack writes that it has answered. */
  replicasCutOff(): void
}
