import type { Attributes, Counter, Histogram, Meter, UpDownCounter } from '@opentelemetry/api'
import type { Acquisition, Hold, Observer, Renewal } from './messages'

/** Bounds of the buckets, in seconds. A wait may be one round trip; a hold may be a job of an hour. */
const WAIT_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
const HOLD_BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600]

/** Counts and measures. No attribute has the name of a lock, because the number of names has no bound. */
export class LockMetrics implements Observer {
  private readonly waitDuration: Histogram
  private readonly holdDuration: Histogram
  private readonly waiters: OpenCount
  private readonly openHolds: OpenCount
  private readonly losses: Counter
  private readonly renewalFailures: Counter

  constructor(
    meter: Meter,
    private readonly attributesOf: (message: { name: string; kind: string }) => Attributes,
  ) {
    this.waitDuration = meter.createHistogram('lock.client.wait.duration', {
      unit: 's',
      description: 'How long an acquisition took, until it was granted or given up.',
      advice: { explicitBucketBoundaries: WAIT_BUCKETS },
    })
    this.holdDuration = meter.createHistogram('lock.client.hold.duration', {
      unit: 's',
      description: 'How long a lock or a permit was held.',
      advice: { explicitBucketBoundaries: HOLD_BUCKETS },
    })
    const holds = { unit: '{hold}', description: 'Locks and permits that are held.' }
    this.openHolds = new OpenCount(meter.createUpDownCounter('lock.client.holds', holds))
    const waiters = { unit: '{waiter}', description: 'Acquisitions that are in progress.' }
    this.waiters = new OpenCount(meter.createUpDownCounter('lock.client.waiters', waiters))
    const losses = { unit: '{loss}', description: 'Holds that were lost while their holder worked.' }
    this.losses = meter.createCounter('lock.client.losses', losses)
    const failures = { unit: '{failure}', description: 'Renewals that failed, or were not answered in time.' }
    this.renewalFailures = meter.createCounter('lock.client.renewal.failures', failures)
  }

  waits(acquisition: Acquisition): void {
    this.waiters.begin(acquisition, this.attributesOf(acquisition))
  }

  waited(acquisition: Acquisition): void {
    const attributes = this.waiters.end(acquisition)
    if (!attributes) return
    const { duration, outcome } = acquisition
    this.waitDuration.record(duration / 1_000, { ...attributes, 'lock.outcome': outcome })
  }

  holds(hold: Hold): void {
    this.openHolds.begin(hold, this.attributesOf(hold))
  }

  held(hold: Hold): void {
    const attributes = this.openHolds.end(hold)
    if (!attributes) return
    const { heldFor, outcome, reason } = hold
    this.holdDuration.record(heldFor / 1_000, { ...attributes, 'lock.outcome': outcome })
    if (outcome === 'lost') this.losses.add(1, { ...attributes, 'lock.reason': reason ?? 'lease' })
  }

  renewed(renewal: Renewal): void {
    const { outcome } = renewal
    if (outcome === 'failed' || outcome === 'overdue') this.renewalFailures.add(1, this.attributesOf(renewal))
  }

  close(): void {
    this.waiters.close()
    this.openHolds.close()
  }
}

/** How many are open. What began before the subscription is not counted, and so its end is not either. */
class OpenCount {
  private readonly open = new Map<object, Attributes>()

  constructor(private readonly counter: UpDownCounter) {}

  begin(message: object, attributes: Attributes): void {
    this.open.set(message, attributes)
    this.counter.add(1, attributes)
  }

  /** The attributes with which it began. */
  end(message: object): Attributes | undefined {
    const attributes = this.open.get(message)
    if (!attributes) return undefined
    this.open.delete(message)
    this.counter.add(-1, attributes)
    return attributes
  }

  close(): void {
    for (const message of [...this.open.keys()]) this.end(message)
  }
}
