import type { Redis } from 'ioredis'
import { INSPECT_CHANNEL } from 'rlock/internal'
import type { Connection, Listening } from './connection'

/** Redis 8.8 and later: the field of a hash as well, which is the owner of a lock. */
export const SUBKEYS = 'T'

/** What the server tells of the keys of every primary. */
export interface Notifications {
  readonly keys: boolean
  /** Which fields changed. */
  readonly fields: boolean
}

/** What all primaries tell; nothing where the user may not ask. */
export async function notificationsOf(connection: Connection): Promise<Notifications> {
  const settings = await Promise.all(connection.primaries().map((node) => settingOf(connection, node)))
  const all = settings.map((flags) => tells(flags ?? ''))
  return { keys: all.every(({ keys }) => keys), fields: all.every(({ fields }) => fields) }
}

export async function settingOf(connection: Connection, node: Redis): Promise<string | undefined> {
  const missing = 'whether keyspace notifications are on: the right to CONFIG GET is missing'
  const answer = await connection.tell(node, missing, 'config', 'get', 'notify-keyspace-events')
  return answer === undefined ? undefined : ((answer as string[])[1] ?? '')
}

export function tells(flags: string): Notifications {
  const has = (...wanted: string[]) => flags.includes('A') || wanted.every((flag) => flags.includes(flag))
  return { keys: flags.includes('E') && has('g', 'h', 'x'), fields: flags.includes(SUBKEYS) && has('h') }
}

/**
 * The key and the fields in a message on `__subkeyevent@<db>__:<event>`: `<length>:<key>|<length>:<field>,…`, lengths in bytes.
 * Undefined for anything else.
 */
export function parseSubkeys(text: string): { readonly key: string; readonly fields: string[] } | undefined {
  let rest = Buffer.from(text)
  const next = (): string | undefined => {
    const digits = /^(\d{1,9}):/.exec(rest.toString('latin1', 0, 10))?.[1]
    if (digits === undefined) return undefined
    const start = digits.length + 1
    const end = start + Number(digits)
    if (end > rest.length) return undefined
    const found = rest.toString('utf8', start, end)
    rest = rest.subarray(end)
    return found
  }
  const key = next()
  const fields: string[] = []
  while (key !== undefined && rest.length > 0) {
    const separator = rest.toString('latin1', 0, 1)
    rest = rest.subarray(1)
    const field = separator === (fields.length === 0 ? '|' : ',') ? next() : undefined
    if (field === undefined) return undefined
    fields.push(field)
  }
  return key === undefined || fields.length === 0 ? undefined : { key, fields }
}

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
