import type { Redis } from 'ioredis'
import type { Connection } from './connection'

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
