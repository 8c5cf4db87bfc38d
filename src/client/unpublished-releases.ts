import { RedisRefusedError } from '../api/errors'
import type { PublishCommand } from '../redis/listen/pubsub'
import { channelGrant, channelPattern } from '../redis/reply/channel-rights'
import { OutageReporter } from '../redis/reports/outage-reporter'
import type { Clock } from '../util/clock'
import { quote } from '../util/quote'

/** The part of a release's answer that matters here. */
interface ReleaseAnswer {
  readonly result: string
  /** How many clients the server notified of a lock that became free; undefined: it refused to publish. */
  readonly notified?: number | undefined
}

/** Reports releases that the server did not publish, once for each outage and kind of channel. */
export class UnpublishedReleases {
  private readonly outages = new Map<string, OutageReporter>()

  constructor(
    private readonly clock: Clock,
    private readonly publish: PublishCommand,
    private readonly report: (error: Error) => void,
  ) {}

  /** Takes the answer to a release. `what` is the kind of object, for the message. */
  released(
    { name, channel }: { readonly name: string; readonly channel: string },
    answer: ReleaseAnswer,
    what = 'lock',
  ): void {
    if (answer.result !== 'freed') return
    if (answer.notified === undefined) this.refused(`the ${what} ${quote(name)}`, channel)
    else if (this.outages.size > 0) this.outages.get(channelPattern(channel))?.answered()
  }

  private refused(subject: string, channel: string) {
    const pattern = channelPattern(channel)
    const message =
      `Redis refused ${this.publish.toUpperCase()} on the channel ${quote(channel)} when ${subject} was ` +
      'released: waiting clients are not notified. Each sleeps until the lease that it read has ended, ' +
      `or until its next try. ${channelGrant(this.publish, channel)}.`
    let outages = this.outages.get(pattern)
    if (!outages) {
      outages = new OutageReporter(this.clock, { error: this.report })
      this.outages.set(pattern, outages)
      // An application without a listener for `error` must learn of it, too. create() cannot know the names
      // of all objects.
      process.emitWarning(message, { code: 'RLOCK_PUBLISH_REFUSED' })
    }
    outages.failed(new RedisRefusedError(message, undefined))
  }
}
