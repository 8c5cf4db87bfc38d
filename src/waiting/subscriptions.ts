import type { ChannelSource } from '../connection/subscriber-connection'
import { outsideThreads } from '../ownership/logical-thread'
import type { Clock, Moment, Timer } from '../runtime/clock'
import { Turn } from './turn'

/** A waiter's side of a channel. */
export interface ChannelListener {
  /** A message came, or the subscription was confirmed, broken or confirmed again: look at the lock again. */
  wake(): void
}

interface Channel {
  readonly listeners: Set<ChannelListener>
  /** Counts down while nobody listens; hot locks keep their subscription this way. */
  idleRounds: number
  /** How those who wait for the lock behind it take turns with other processes. */
  readonly turn: Turn
  /** When something was last heard of it, by the monotonic clock. */
  lastHeard: number
}

/** An unused channel stays subscribed for one to two of these. */
const LINGER_ROUND = 500
const PING_EVERY = 5_000

/**
 * Who listens to which channel: one subscription a channel however many listen, gone shortly after the
 * last listener, so that one waiter's leaving never silences another.
 */
export class Subscriptions {
  private readonly channels = new Map<string, Channel>()
  private idle = 0
  private sweeper: Timer | undefined
  private pinger: Timer | undefined

  constructor(
    private readonly source: ChannelSource,
    private readonly clock: Clock,
  ) {}

  /** Listens to a channel until the returned function is called. */
  listen(name: string, listener: ChannelListener): () => void {
    let channel = this.channels.get(name)
    if (!channel) {
      channel = {
        listeners: new Set(),
        idleRounds: 0,
        turn: new Turn(this.clock),
        lastHeard: Number.POSITIVE_INFINITY,
      }
      this.channels.set(name, channel)
      this.source.want(name)
    } else if (channel.listeners.size === 0) this.idle--
    channel.listeners.add(listener)
    this.pinger ??= this.armPinger()
    return () => this.leave(name, channel, listener)
  }

  isConfirmed(name: string): boolean {
    return this.source.isConfirmed(name)
  }

  /** None where nobody has listened of late. */
  turn(name: string): Turn | undefined {
    return this.channels.get(name)?.turn
  }

  /** Whether everything would have been heard since that moment, and nothing was. */
  isQuietSince(name: string, moment: Moment): boolean {
    const channel = this.channels.get(name)
    return channel !== undefined && channel.lastHeard <= moment.monotonic && this.source.isConfirmed(name)
  }

  /** A lock was released, says the channel. */
  message(name: string): void {
    this.channels.get(name)?.turn.hear()
    this.wake(name)
  }

  /** Wakes whoever listens to this channel. */
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

  private leave(name: string, channel: Channel, listener: ChannelListener) {
    if (!channel.listeners.delete(listener) || channel.listeners.size > 0) return
    if (this.channels.get(name) !== channel) return
    channel.idleRounds = 0
    this.idle++
    this.sweeper ??= this.armSweeper()
  }

  private armSweeper(): Timer {
    return outsideThreads(() =>
      this.clock.after(LINGER_ROUND, () => {
        this.sweep()
        this.sweeper = this.idle > 0 ? this.armSweeper() : undefined
      }),
    )
  }

  private sweep() {
    for (const [name, channel] of this.channels) {
      if (channel.listeners.size > 0 || channel.idleRounds++ === 0) continue
      this.channels.delete(name)
      this.idle--
      this.source.drop(name)
    }
    if (this.channels.size > this.idle) return
    this.pinger?.cancel()
    this.pinger = undefined
  }

  private armPinger(): Timer {
    // A waiter sends nothing, so only a PING can tell a quiet subscription from a dead one.
    return outsideThreads(() =>
      this.clock.after(PING_EVERY, () => {
        this.pinger = undefined
        if (this.channels.size === this.idle) return
        this.source.probe()
        this.pinger = this.armPinger()
      }),
    )
  }
}
