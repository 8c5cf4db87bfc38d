import { RedisRefusedError } from '../api/errors'
import type { PublishCommand } from '../redis/listen/pubsub'
import { channelGrant, channelPattern } from '../redis/reply/channel-rights'
import { OutageReporter } from '../redis/reports/outage-reporter'
import type { Clock } from '../util/clock'
import { getOrCreate } from '../util/get-or-create'
import { quote } from '../util/quote'
import type { WaitTarget } from '../waiting/admission'

type Published = Pick<WaitTarget, 'subject' | 'channel'>

/** Reports releases that the server did not publish, once for each outage and kind of channel. */
export class UnpublishedReleases {
  private readonly outages = new Map<string, OutageReporter>()
  /** The server has refused a message once. */
  hasRefused = false

  constructor(
    private readonly clock: Clock,
    private readonly publish: PublishCommand,
    private readonly report: (error: Error) => void,
  ) {}

  /** The server published the release of this object. */
  published({ channel }: Published): void {
    this.outages.get(channelPattern(channel))?.answered()
  }

  /** The server released this object and refused to publish that. */
  refused({ subject, channel }: Published): void {
    this.hasRefused = true
    const pattern = channelPattern(channel)
    const message =
      `Redis refused ${this.publish.toUpperCase()} on the channel ${quote(channel)} after the release of ` +
      `${subject}: waiting clients are not notified. Each sleeps until the lease that it read has ended, ` +
      `or until its next try. ${channelGrant(this.publish, channel)}.`
    const outages = getOrCreate(this.outages, pattern, () => {
      // An application without a listener for `error` must learn of it, too. create() cannot know the names
      // of all objects.
      process.emitWarning(message, { code: 'RLOCK_PUBLISH_REFUSED' })
      return new OutageReporter(this.clock, { error: this.report })
    })
    outages.failed(new RedisRefusedError(message, undefined))
  }
}
