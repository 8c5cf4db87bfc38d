import type { Redis } from 'ioredis'
import type { Clock, Timer } from '../../util/clock'
import { getOrCreate } from '../../util/get-or-create'
import { queueMicrotask } from '../../util/timers'
import { pingOrDisconnect } from '../connect/health-check'
import { reconnectUnless } from '../connect/reconnect'
import { classify } from '../reply/errors'
import type { ChannelEvents } from '../reports/connected-client'

/** A source of messages on channels: one connection, or several in a cluster. */
export type ChannelSource = Pick<SubscriberConnection, 'want' | 'drop' | 'isConfirmed' | 'probe' | 'close'>

interface ChannelState {
  wanted: boolean
  /** `unknown`: perhaps subscribed. */
  phase: 'idle' | 'unknown' | 'subscribing' | 'subscribed' | 'unsubscribing'
}

const CHANNELS_A_COMMAND = 500
const RETRY_AFTER = 500
/** The subscriptions that the server ends within this time, in ms, are looked at together. */
const MOVED_TOGETHER = 20

/**
 * The channels of one connection. For each channel it keeps the wanted state and the state that the server
 * has confirmed, and sends one command at a time until the two agree. So a subscribe and an unsubscribe of
 * one channel never overtake each other.
 */
export class SubscriberConnection {
  private readonly channels = new Map<string, ChannelState>()
  private readonly dirty = new Set<string>()
  private closed = false
  /** The number of the connection, so that answers of an earlier connection are ignored. */
  private epoch = 0
  private retry: Timer | undefined
  private moving: Timer | undefined

  constructor(
    readonly redis: Redis,
    private readonly sharded: boolean,
    private readonly clock: Clock,
    private readonly events: ChannelEvents,
  ) {
    // A node that had the channel before may still deliver what is old by now. Its waiters were woken when
    // the channel moved.
    redis.on(sharded ? 'smessage' : 'message', (channel: string, text: string) => {
      if (this.channels.get(channel)?.wanted) events.message(channel, text)
    })
    redis.on('ready', () => this.reconcileAll())
    redis.on('close', () => this.forget('idle'))
    // The server ended or refused a shard subscription, because the slot moved. It does not say which one,
    // and may still have the others: those that no waiter needs any more must be unsubscribed. The event
    // comes once for each channel.
    redis.on('moved', () => {
      this.moving ??= clock.after(MOVED_TOGETHER, () => {
        this.moving = undefined
        this.forget('unknown')
        // Until the map of slots is new, each subscription would be answered with MOVED at once.
        if (!this.retry) this.reconcileAll()
        this.retryLater()
      })
    })
    // It reconnects only after its first `ready`, because a client that could not connect is closed.
    redis.once('ready', () => reconnectUnless(() => this.closed, redis, clock))
  }

  /** Keeps the channel subscribed, through reconnects, until `drop`. */
  want(channel: string): void {
    getOrCreate(this.channels, channel, () => ({ wanted: true, phase: 'idle' })).wanted = true
    this.reconcile(channel)
  }

  drop(channel: string): void {
    const state = this.channels.get(channel)
    if (!state) return
    state.wanted = false
    this.reconcile(channel)
  }

  isConfirmed(channel: string): boolean {
    const state = this.channels.get(channel)
    return state?.phase === 'subscribed' && state.wanted
  }

  /** Closes connections that went silent. */
  probe(): void {
    pingOrDisconnect(this.redis, this.clock)
  }

  close(): void {
    this.closed = true
    this.retry?.cancel()
    this.moving?.cancel()
    this.channels.clear()
    this.redis.disconnect()
  }

  /** From now on all channels are in this phase. */
  private forget(phase: 'idle' | 'unknown') {
    this.epoch++
    for (const [channel, state] of this.channels) {
      const confirmed = state.phase === 'subscribed'
      state.phase = phase
      if (state.wanted && confirmed) this.events.broken(channel)
      if (!state.wanted && phase === 'idle') this.channels.delete(channel)
    }
  }

  private reconcileAll() {
    for (const channel of this.channels.keys()) this.reconcile(channel)
  }

  private reconcile(channel: string) {
    // All channels of one tick go out in one command.
    if (this.dirty.size === 0) queueMicrotask(() => this.flush())
    this.dirty.add(channel)
  }

  private flush() {
    // The next connection looks at all channels. A channel that was forgotten meanwhile must not stay here.
    if (this.redis.status !== 'ready') return this.dirty.clear()
    const subscribe: string[] = []
    const unsubscribe: string[] = []
    for (const channel of this.dirty) {
      const state = this.channels.get(channel)
      if (!state) continue
      const { wanted, phase } = state
      if (wanted && (phase === 'idle' || phase === 'unknown')) {
        state.phase = 'subscribing'
        subscribe.push(channel)
      } else if (!wanted && (phase === 'subscribed' || phase === 'unknown')) {
        state.phase = 'unsubscribing'
        unsubscribe.push(channel)
      } else if (!wanted && phase === 'idle') this.channels.delete(channel)
    }
    this.dirty.clear()
    this.send(this.sharded ? 'ssubscribe' : 'subscribe', subscribe)
    this.send(this.sharded ? 'sunsubscribe' : 'unsubscribe', unsubscribe)
  }

  private send(command: 'subscribe' | 'ssubscribe' | 'unsubscribe' | 'sunsubscribe', channels: string[]) {
    // Sharded channels of one command must share a slot, so each gets its own command.
    const size = this.sharded ? 1 : CHANNELS_A_COMMAND
    for (let start = 0; start < channels.length; start += size) {
      const batch = channels.slice(start, start + size)
      const { epoch } = this
      this.redis[command](...batch).then(
        () => epoch === this.epoch && this.answered(batch),
        (error) => epoch === this.epoch && this.refused(batch, error),
      )
    }
  }

  private answered(batch: string[]) {
    for (const channel of batch) {
      const state = this.channels.get(channel)
      if (!state) continue
      const subscribed = state.phase === 'subscribing'
      state.phase = subscribed ? 'subscribed' : 'idle'
      if (subscribed && state.wanted) this.events.confirmed(channel)
      else this.reconcile(channel)
    }
  }

  private refused(batch: string[], error: unknown) {
    const hasMoved = /^MOVED /.test((error as Error).message)
    for (const channel of batch) {
      const state = this.channels.get(channel)
      // A node that gave a slot away has ended its subscriptions.
      if (state) state.phase = state.phase === 'unsubscribing' && !hasMoved ? 'subscribed' : 'idle'
    }
    // MOVED is reported as well: the cluster subscriber finds the new node of the channel.
    const kind = classify(error)
    if (kind === 'refused' || kind === 'final' || hasMoved) this.events.error(error, batch[0]!)
    this.retryLater()
  }

  private retryLater() {
    this.retry ??= this.clock.after(RETRY_AFTER, () => {
      this.retry = undefined
      this.reconcileAll()
    })
  }
}
