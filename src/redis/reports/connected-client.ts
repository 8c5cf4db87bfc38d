import type { Clock, Moment } from '../../util/clock'
import type { OutageReporter } from './outage-reporter'

/** The events of a source of messages. */
export interface ChannelEvents {
  message(channel: string, text: string): void
  /** The server confirmed the subscription, for the first time or again after a break. */
  confirmed(channel: string): void
  /** The subscription broke: messages may be lost until it is confirmed again. */
  broken(channel: string): void
  /** The server refused to subscribe to the channel. */
  error(error: unknown, channel: string): void
}

/** Takes a request. Returns the channel and the text of the answer, if there is one. */
export type Inspected = (request: string) => readonly [channel: string, text: string] | undefined

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
