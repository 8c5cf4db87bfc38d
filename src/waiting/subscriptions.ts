import type { ChannelSource } from '../redis/listen/subscriber'
import type { Clock, Timer } from '../util/clock'
import { Slices } from '../util/slices'
import type { WaitTarget } from './admission'
import { Cohort } from './cohort'

class Channel {
  /** Each is called when a message came, or the subscription was confirmed or broke. */
  readonly listeners = new Set<() => void>()
  /** Whether this client wants the messages. If not, the channel only keeps its cohort. */
  subscribed = false
  /**
   * The rounds without a listener. The subscription outlives its last listener, because a hot lock needs it
   * again soon.
   */
  idleRounds = 0

  constructor(
    /** How the waiters of this channel take turns with other processes. */
    readonly cohort: Cohort,
    /** The message that all owners have left, if the object has one. */
    readonly allLeft: string | undefined,
  ) {}
}

/**
 * An unused channel lives for one to two rounds of this length, in ms. It stays subscribed unless other
 * clients release its lock.
 */
const ROUND = 500
/** Rounds in which callers listened. */
const PING_EVERY = 10
/**
 * If the wall clock goes ahead of the timers by more than this, in ms, they stood still with their machine.
 */
const STOOD_STILL = 1_000

type ChannelOf = Pick<WaitTarget, 'channel' | 'allLeft'>

/**
 * The channels and their listeners. A channel has one subscription, however many listeners it has. The
 * subscription ends shortly after the last listener has left, so that a waiter that leaves never silences
 * another one.
 */
export class Subscriptions {
  /**
   * A channel is here while a caller listens or has listened recently, or another client heard a release of
   * this one. Its cohort lasts as long.
   */
  readonly channels = new Map<string, Channel>()
  /** A reconnect changes all subscriptions at once. */
  private readonly changes = new Slices()
  /** Runs while there are channels. */
  private timer: Timer | undefined
  /** The rounds since the last PING in which callers listened. */
  private rounds = 0

  constructor(
    private readonly source: ChannelSource,
    private readonly clock: Clock,
  ) {}

  /** Listens to the channel of an object until the returned function is called. */
  listen(target: ChannelOf, listener: () => void): () => void {
    const name = target.channel
    const channel = this.channels.get(name) ?? this.open(target)
    channel.listeners.add(listener)
    if (!channel.subscribed) {
      channel.subscribed = true
      this.source.want(name)
    }
    return () => {
      channel.listeners.delete(listener)
      channel.idleRounds = 0
    }
  }

  /** Whether the server has confirmed the subscription, so that messages arrive. */
  isConfirmed(name: string): boolean {
    return this.source.isConfirmed(name)
  }

  /**
   * The server confirmed the subscription and delivers every message since then, or it broke and messages may
   * be lost.
   */
  changed(name: string): void {
    this.changes.run(() => this.wake(name))
  }

  /** The cohort of this object; creates the channel if needed, and keeps it for a while. */
  keepCohort(target: ChannelOf): Cohort {
    const channel = this.channels.get(target.channel) ?? this.open(target)
    channel.idleRounds = 0
    return channel.cohort
  }

  /** A message came: a lock was released. */
  message(name: string, text: string): void {
    const channel = this.channels.get(name)
    if (!channel) return
    const { cohort, allLeft } = channel
    cohort.hear(text === allLeft)
    this.wake(name)
    // A peer has released the lock since the last release here.
    if (cohort.peers.heard > 0) this.stopLingering(name)
  }

  /**
   * Unsubscribes from a channel without listeners. Other clients yield to every subscriber, also to one that
   * does not wait.
   */
  stopLingering(name: string): void {
    const channel = this.channels.get(name)
    if (channel?.listeners.size === 0) this.unsubscribe(name, channel)
  }

  /** Wakes every listener of this channel. */
  wake(name: string): void {
    const channel = this.channels.get(name)
    if (!channel) return
    for (const wake of channel.listeners) wake()
  }

  close(): void {
    this.timer?.cancel()
    this.channels.clear()
    this.source.close()
  }

  private open({ channel: name, allLeft }: ChannelOf): Channel {
    const channel = new Channel(new Cohort(this.clock), allLeft)
    this.channels.set(name, channel)
    this.timer ??= this.nextRound()
    return channel
  }

  private unsubscribe(name: string, channel: Channel) {
    if (!channel.subscribed) return
    channel.subscribed = false
    this.source.drop(name)
  }

  private nextRound(): Timer {
    const began = this.clock.now()
    return this.clock.after(ROUND, () => {
      const { wall, monotonic } = this.clock.now()
      // The timers of the waiters stood still as well, and the leases that they wait for did not.
      const stoodStill = wall - began.wall > monotonic - began.monotonic + STOOD_STILL
      if (stoodStill) for (const name of this.channels.keys()) this.changed(name)
      // A waiter sends nothing, so only a PING can distinguish a quiet subscription from a dead one.
      if (this.closeUnused() && (++this.rounds >= PING_EVERY || stoodStill)) {
        this.rounds = 0
        this.source.probe()
      }
      this.timer = this.channels.size > 0 ? this.nextRound() : undefined
    })
  }

  /** Closes the channels that nobody has used for a round. Returns whether somebody listens to one. */
  private closeUnused(): boolean {
    let isListening = false
    for (const [name, channel] of this.channels) {
      if (channel.listeners.size > 0) isListening = true
      else if (channel.idleRounds++ > 0) {
        this.channels.delete(name)
        this.unsubscribe(name, channel)
      }
    }
    return isListening
  }
}
