import { subscribeRefused } from '../redis/reply/channel-rights'
import { withoutSecrets } from '../redis/reply/errors'
import type { ConnectedClient } from '../redis/reports/connected-client'
import { OutageReporter } from '../redis/reports/outage-reporter'
import type { Clock, Moment } from '../util/clock'
import type { Subscriptions } from '../waiting/subscriptions'
import type { ClientEvents } from './event-emitter'

/** The parts of a client that need to know its server. */
interface ConnectedParts {
  readonly subscriptions: Subscriptions
  readonly recentReleases: { replicated(server: string, by: Moment): void } | undefined
  readonly publishCommand: string
  answerInspector(request: string): readonly [channel: string, text: string] | undefined
  newServer(): void
  replicasCutOff(): void
}

/**
 * What the connections of a client report. It exists before them, and some parts of the client only after
 * them. Until then there is nothing to tell to those parts: the client has no lease, no release and no
 * channel.
 */
export class ConnectionReports implements ConnectedClient {
  /** Set when the client is connected. */
  parts: ConnectedParts | undefined
  readonly outages: OutageReporter
  readonly error: (error: Error) => void
  private readonly refusals: OutageReporter

  constructor(
    readonly clock: Clock,
    readonly events: ClientEvents,
    private readonly secrets: readonly string[],
    private readonly isInspectable: boolean,
  ) {
    this.error = events.error
    this.refusals = new OutageReporter(clock, events)
    this.outages = new OutageReporter(clock, {
      error: (error) => events.error(events.ofServer(error)),
      began: (error) => events.emit('unavailable', { error: events.ofServer(error) }),
      ended: (lasted) => events.emit('available', { lasted }),
    })
  }

  readonly channels = {
    message: (channel: string, text: string) => this.parts?.subscriptions.message(channel, text),
    confirmed: (channel: string) => {
      this.refusals.answered()
      this.parts?.subscriptions.changed(channel)
    },
    broken: (channel: string) => this.parts?.subscriptions.changed(channel),
    error: (error: unknown, channel: string) => {
      const isSharded = this.parts?.publishCommand === 'spublish'
      this.refusals.failed(subscribeRefused(channel, isSharded, withoutSecrets(error, this.secrets)))
    },
  }

  get inspected() {
    return this.isInspectable ? (request: string) => this.parts?.answerInspector(request) : undefined
  }

  newServer(): void {
    this.parts?.newServer()
  }

  replicated(server: string, by: Moment): void {
    this.parts?.recentReleases?.replicated(server, by)
  }

  replicasCutOff(): void {
    this.parts?.replicasCutOff()
  }
}
