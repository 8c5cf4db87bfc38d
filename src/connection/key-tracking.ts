import type { Redis } from 'ioredis'

/** What the server says of keys that it was asked to keep an eye on. */
export interface TrackedKeyEvents {
  /** These changed, and are no longer watched; undefined: all of them may have. */
  changed(keys: readonly string[] | undefined): void
  /** What is read from now on is watched; what was read before is not. */
  armed(): void
}

const CHANNEL = '__redis__:invalidate'

/**
 * Has the server tell when keys change that were read before: its client tracking, for chosen commands only.
 *
 * It costs a lock nothing until it is renewed: the server is told of no other command (OPTIN), and does not tell us
 * of what we change ourselves (NOLOOP). The news comes to the subscriber connection, in RESP2, because ioredis drops
 * the `invalidate` pushes of RESP3. A server or user that may not do this is left in peace until the next connect.
 */
export class KeyTracking {
  private wanted = false
  private isArmed = false
  private epoch = 0
  private listenerId: Promise<unknown> | undefined

  constructor(
    private readonly commands: Redis,
    private readonly listener: Redis,
    private readonly events: TrackedKeyEvents,
  ) {
    // Asked before anything is subscribed to: RESP2 allows it at no later time.
    listener.on('ready', () => {
      this.listenerId = listener.client('ID')
      this.listenerId.catch(() => {})
    })
    for (const redis of [commands, listener]) {
      redis.on('ready', () => void this.arm())
      redis.on('close', () => this.disarm())
    }
    listener.on('messageBuffer', (channel: Buffer | string, keys: unknown) => {
      if (String(channel) === CHANNEL) events.changed(Array.isArray(keys) ? keys.map(String) : undefined)
    })
  }

  /** What the very next command reads is to be watched, as far as that is possible. */
  watchNext(): void {
    if (this.isArmed) this.commands.call('CLIENT', 'CACHING', 'YES').catch(() => {})
    else if (!this.wanted) {
      this.wanted = true
      void this.arm()
    }
  }

  private async arm() {
    if (!this.wanted || this.commands.status !== 'ready' || this.listener.status !== 'ready') return
    const epoch = ++this.epoch
    try {
      const id = await this.listenerId
      await this.listener.subscribe(CHANNEL)
      if (epoch !== this.epoch) return
      await this.commands.call('CLIENT', 'TRACKING', 'ON', 'REDIRECT', String(id), 'OPTIN', 'NOLOOP')
    } catch {
      return
    }
    if (epoch !== this.epoch) return
    this.isArmed = true
    this.events.armed()
  }

  private disarm() {
    this.isArmed = false
    this.epoch++
  }
}
