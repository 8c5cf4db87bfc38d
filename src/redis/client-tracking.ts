import type { Redis } from 'ioredis'
import type { Clock } from '../util/clock'
import { FalseChangeReports } from './false-change-reports'

const CHANNEL = '__redis__:invalidate'
const KEYS_A_COMMAND = 100
/** The most keys that wait until tracking begins. If there were more, the client revalidates all holds when it begins. */
const MOST_WAITING = 10_000

/** The client, as its tracking sees it. */
export interface ChangeListener {
  readonly clock: Clock
  /** These keys changed, and are no longer watched; undefined: any key may have. */
  keysChanged(keys: readonly string[] | undefined): void
}

const ignore = () => {}

/**
 * Client tracking: the server reports when a watched key changes.
 *
 * It reports watched keys alone (OPTIN), so that a lock which is never watched costs nothing. It does not report what the
 * command connection changes itself (NOLOOP). A separate EXISTS registers the keys: if a script registered them, the
 * server would register all its keys again at each read of the script. The reports arrive on the subscriber connection,
 * in RESP2, because ioredis drops the `invalidate` pushes of RESP3. Where the server has no client tracking, or refuses
 * it to this user, the client asks again only after the next connect.
 */
export class ClientTracking {
  private state: 'idle' | 'arming' | 'armed' | 'refused' = 'idle'
  private wanted = false
  private epoch = 0
  private listenerId: Promise<unknown> | undefined
  private readonly waiting: string[] = []
  private readonly falseReports: FalseChangeReports
  /** A key may have changed without a report. */
  private missedNews = false

  constructor(
    private readonly commands: Redis,
    private readonly listener: Redis,
    private readonly client: ChangeListener,
  ) {
    this.falseReports = new FalseChangeReports(client.clock)
    // CLIENT ID is sent before the first subscription: with RESP2 a subscribed connection cannot send it any more.
    listener.on('ready', () => {
      this.listenerId = listener.client('ID')
      this.listenerId.catch(ignore)
    })
    listener.on('close', () => {
      this.missedNews ||= this.wanted
    })
    commands.on('close', () => {
      // Holds of these keys that are still live are renewed as soon as the connection is back.
      this.waiting.length = 0
    })
    for (const redis of [commands, listener]) {
      redis.on('close', () => this.disarm())
      redis.on('ready', () => this.arm())
    }
    listener.on('messageBuffer', (channel: Buffer | string, keys: unknown) => {
      if (String(channel) === CHANNEL) client.keysChanged(Array.isArray(keys) ? keys.map(String) : undefined)
    })
  }

  /** Watches each of these keys until its next change, if the server can. */
  watch(keys: readonly string[]): void {
    if (this.falseReports.isPausing) return
    this.wanted = true
    if (this.state === 'armed') return this.register(keys)
    if (this.state === 'refused') return
    this.waiting.push(...keys)
    if (this.waiting.length > MOST_WAITING) {
      this.waiting.length = 0
      this.missedNews = true
    }
    if (this.state === 'idle') this.arm()
  }

  /** The server reported the keys of this many holds, and the holds were still there. */
  falselyNotified(holds: number): void {
    this.falseReports.add(holds)
  }

  private arm() {
    if (!this.wanted || this.commands.status !== 'ready' || this.listener.status !== 'ready') return
    this.state = 'arming'
    const epoch = ++this.epoch
    this.prepare().then(
      () => epoch === this.epoch && this.armed(),
      () => epoch === this.epoch && this.refused(),
    )
  }

  private async prepare() {
    const id = await this.listenerId
    await this.listener.subscribe(CHANNEL)
    await this.commands.call('CLIENT', 'TRACKING', 'ON', 'REDIRECT', String(id), 'OPTIN', 'NOLOOP')
  }

  private armed() {
    this.state = 'armed'
    this.register(this.waiting.splice(0))
    if (this.missedNews) this.client.keysChanged(undefined)
    this.missedNews = false
  }

  private refused() {
    this.state = 'refused'
    this.waiting.length = 0
  }

  private disarm() {
    this.state = 'idle'
    this.epoch++
  }

  private register(keys: readonly string[]) {
    for (let start = 0; start < keys.length; start += KEYS_A_COMMAND) {
      this.commands.call('CLIENT', 'CACHING', 'YES').catch(ignore)
      this.commands.exists(...keys.slice(start, start + KEYS_A_COMMAND)).catch(ignore)
    }
  }
}
