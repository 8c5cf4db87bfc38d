import type { Redis } from 'ioredis'
import { INSPECT_CHANNEL } from 'rlock/internal'
import type { Connection, Listening } from './connection'
import { SUBKEYS, settingOf, tells } from './notifications'

/** Keyevents of hashes, of keys that are deleted, that expire, and that are evicted. */
const NEEDED = 'Eghxe'

/** What was changed, and what it was before. */
interface Changed {
  readonly before: string
  readonly now: string
}

/**
 * The setting of one node, while some `rlock watch` needs it. They may be several: each listens on one channel, so that the server
 * counts them. One that ends hands what is to be put back to the others, and the last one puts it back.
 */
export class EnabledNotifications {
  private changed: Changed | undefined
  /** The setting, where it was on already. */
  private found: string | undefined
  private listening: Listening | undefined

  private constructor(
    private readonly connection: Connection,
    private readonly node: Redis,
    private readonly channel: string,
  ) {}

  /** Turns on at every primary what is missing there. */
  static async enable(connection: Connection): Promise<EnabledNotifications[]> {
    const enabled: EnabledNotifications[] = []
    try {
      for (const node of connection.primaries()) {
        // A setting lives as long as its server.
        const server = /^run_id:(\w+)/m.exec(await node.info('server'))?.[1]
        const each = new EnabledNotifications(connection, node, `${INSPECT_CHANNEL}:notifications:${server}`)
        enabled.push(each)
        await each.enable()
      }
    } catch (error) {
      for (const each of enabled) await each.end()
      throw connection.safeError(error)
    }
    return enabled
  }

  async end(): Promise<void> {
    await this.listening?.end()
    const { changed, node } = this
    if (!changed) return
    const others = Number(await node.publish(this.channel, JSON.stringify({ v: 1, ...changed })))
    // Where a user has changed it meanwhile, it is theirs.
    if (others === 0 && (await settingOf(this.connection, node)) === changed.now)
      await node.config('SET', 'notify-keyspace-events', changed.before)
  }

  private async enable(): Promise<void> {
    const { connection, node } = this
    this.listening = await connection.listen([this.channel], (_, text) => this.handedOn(text), node)
    const before = await settingOf(connection, node)
    this.found = before
    if (before === undefined || (tells(before).keys && tells(before).fields)) return
    try {
      await node.config('SET', 'notify-keyspace-events', before + NEEDED + SUBKEYS)
    } catch (error) {
      // A server before 8.8 does not know subkeys.
      if (tells(before).keys) return
      if (/NOPERM/.test((error as Error).message)) throw error
      await node.config('SET', 'notify-keyspace-events', before + NEEDED)
    }
    this.changed = { before, now: (await settingOf(connection, node)) ?? '' }
  }

  /** Another one has ended that had changed the setting. What this process has changed itself stands. */
  private handedOn(text: string): void {
    try {
      const { v, before, now } = Object(JSON.parse(text))
      const areFlags = [before, now].every(
        (flags) => typeof flags === 'string' && /^[A-Za-z$]{0,32}$/.test(flags),
      )
      if (v === 1 && areFlags && now === this.found) this.changed ??= { before, now }
    } catch {
      // It is none of ours.
    }
  }
}
