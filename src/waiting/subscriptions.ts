import type { ChannelSource } from '../redis/subscriber'
import type { Clock, Moment, Timer } from '../util/clock'
import { Slices } from '../util/slices'
import type { WaitTarget } from './admission'
import { Cohort } from './cohort'

/** A wait queue that listens to a channel. */
export interface ChannelListener {
  /** A message came, or the subscription was confirmed or broke. The queue must try again. */
  wake(): void
}

class Channel {
  readonly listeners = new Set<ChannelListener>()
  /** Whether this client wants the messages. If not, the channel only keeps its cohort. */
  subscribed = false
  /** The rounds without a listener. The subscription outlives its last listener, because a hot lock needs it again soon. */
  idleRounds = 0
  /** When the last event of the channel came, by the monotonic clock. */
  lastHeard = Number.POSITIVE_INFINITY

  constructor(
    /** How the waiters of this channel take turns with other processes. */
    readonly cohort: Cohort,
    /** The message that all owners have left, if the object has one. */
    readonly allLeft: string | undefined,
  ) {}
}

/** An unused channel lives for one to two rounds of this length, in ms. It stays subscribed unless other clients release its lock. */
const LINGER_ROUND = 500
const PING_EVERY = 5_000
/** If the wall clock goes ahead of the timers by more than this, in ms, they stood still with their machine. */
const STOOD_STILL = 1_000

type ChannelOf = Pick<WaitTarget, 'channel' | 'allLeft'>

/**
 * The channels and their listeners. A channel has one subscription, however many listeners it has. The subscription ends
 * shortly after the last listener has left, so that a waiter that leaves never silences another one.
 */
export class Subscriptions {
  /**
   * A channel is here while a caller listens or has listened recently, or another client heard a release of this one. Its cohort
   * lasts as long.
   */
  readonly channels = new Map<string, Channel>()
  /** A reconnect changes all subscriptions at once. */
  private readonly changes = new Slices()
  private idle = 0
  private sweeper: Timer | undefined
  private pinger: Timer | undefined

  constructor(
    private readonly source: ChannelSource,
    private readonly clock: Clock,
  ) {}

  /** Listens to the channel of an object until the returned function is called. */
  listen(target: ChannelOf, listener: ChannelListener): () => void {
    const name = target.channel
    let channel = this.channels.get(name)
    if (!channel) channel = this.open(target)
    else if (channel.listeners.size === 0) this.idle--
    channel.listeners.add(listener)
    if (!channel.subscribed) {
      channel.subscribed = true
      this.source.want(name)
    }
    this.pinger ??= this.armPinger()
    return () => this.leave(name, channel, listener)
  }

  isConfirmed(name: string): boolean {
    return this.source.isConfirmed(name)
  }

  /** The server confirmed the subscription and delivers every message since then, or it broke and messages may be lost. */
  changed(name: string): void {
    this.changes.run(() => this.wake(name))
  }

  /** The cohort of this object; creates the channel if needed, and keeps it for a while. */
  keepCohort(target: ChannelOf): Cohort {
    let channel = this.channels.get(target.channel)
    if (!channel) {
      channel = this.open(target)
      this.becameIdle(channel)
    }
    channel.idleRounds = 0
    return channel.cohort
  }

  /** Whether the subscription has been confirmed and silent since that moment. */
  isQuietSince(name: string, moment: Moment): boolean {
    const channel = this.channels.get(name)
    return channel !== undefined && channel.lastHeard <= moment.monotonic && this.source.isConfirmed(name)
  }

  /** A message came: a lock was released. */
  message(name: string, text: string): void {
    const channel = this.channels.get(name)
    if (!channel) return
    const { cohort, allLeft } = channel
    cohort.hear(text === allLeft)
    this.wake(name)
    // A peer has released the lock since the last release here.
    if (cohort.heard > 0) this.stopLingering(name)
  }

  /** Unsubscribes from a channel without listeners. Other clients yield to every subscriber, also to one that does not wait. */
  stopLingering(name: string): void {
    const channel = this.channels.get(name)
    if (channel?.listeners.size === 0) this.unsubscribe(name, channel)
  }

  /** Wakes every listener of this channel. */
  wake(name: string): void {
    const channel = this.channels.get(name)
    if (!channel) return
    channel.lastHeard = this.clock.now().monotonic
    for (const listener of channel.listeners) listener.wake()
  }

  close(): void {
    this.sweeper?.cancel()
    this.pinger?.cancel()
    this.channels.clear()
    this.source.close()
  }

  private open({ channel: name, allLeft }: ChannelOf): Channel {
    const channel = new Channel(new Cohort(this.clock), allLeft)
    this.channels.set(name, channel)
    return channel
  }

  private leave(name: string, channel: Channel, listener: ChannelListener) {
    if (!channel.listeners.delete(listener) || channel.listeners.size > 0) return
    if (this.channels.get(name) === channel) this.becameIdle(channel)
  }

  private becameIdle(channel: Channel) {
    channel.idleRounds = 0
    this.idle++
    this.sweeper ??= this.armSweeper()
  }

  private unsubscribe(name: string, channel: Channel) {
    if (!channel.subscribed) return
    channel.subscribed = false
    channel.cohort.stopHearing()
    this.source.drop(name)
  }

  private armSweeper(): Timer {
    return this.clock.after(LINGER_ROUND, () => {
      this.sweep()
      this.sweeper = this.idle > 0 ? this.armSweeper() : undefined
    })
  }

  private sweep() {
    for (const [name, channel] of this.channels) {
      if (channel.listeners.size > 0 || channel.idleRounds++ === 0) continue
      this.channels.delete(name)
      this.idle--
      this.unsubscribe(name, channel)
    }
    if (this.channels.size > this.idle) return
    this.pinger?.cancel()
    this.pinger = undefined
  }

  private armPinger(): Timer {
    const armed = this.clock.now()
    // A waiter sends nothing, so only a PING can distinguish a quiet subscription from a dead one.
    return this.clock.after(PING_EVERY, () => {
      this.pinger = undefined
      if (this.channels.size === this.idle) return
      const { wall, monotonic } = this.clock.now()
      // The timers of the waiters stood still as well, and the leases that they wait for did not.
      if (wall - armed.wall > monotonic - armed.monotonic + STOOD_STILL)
        for (const name of this.channels.keys()) this.changes.run(() => this.wake(name))
      this.source.probe()
      this.pinger = this.armPinger()
    })
  }
}
