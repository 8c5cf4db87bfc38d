import { parseArgs } from 'node:util'
import { changesBetween } from '../changes'
import type { Connection } from '../connection'
import { EXIT, UsageError } from '../exit'
import { findLocks } from '../find'
import { glob } from '../glob'
import { parseOwner, type Row, THREAD_ID } from '../model'
import { namesIn } from '../names'
import { EnabledNotifications, type Notifications, notificationsOf, parseSubkeys } from '../notifications'
import { readObjects } from '../read-locks'
import { ShardedMessages } from '../sharded-messages'
import { CONNECTION_OPTIONS, refuseUrl } from '../target'
import { Screen, safe } from '../terminal'
import { help, pause, stopped, withConnection } from './session'

const USAGE = `
usage: rlock watch [pattern] [--enable-notifications] [--json]

Shows locks while they are acquired, re-entered, handed on, released, expire or are lost, until it is interrupted. It says first
which sources it has here, and what it therefore cannot see.

  --enable-notifications  turns keyspace notifications on while it runs, and puts the setting back at its end`

/** How often every lock that is known is looked at, in ms. */
const LOOK_AGAIN = 1_000
/** The pause between two searches for names that nothing else tells, in ms; after a long search a multiple of it. */
const SEARCH_AGAIN = 2_000
const SEARCH_PAUSE = 20

/** What was heard of one name since it was read last. */
interface Heard {
  readonly events: Set<string>
  readonly owners: Set<string>
}

const MESSAGES = new RegExp(
  `^(?:redisson_lock__channel|redisson_rwlock):(.*?)(?::[0-9a-f-]{36}:${THREAD_ID})?$`,
  's',
)

export async function run(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { ...CONNECTION_OPTIONS, 'enable-notifications': { type: 'boolean' } },
  })
  if (values.help) return help(USAGE)
  if (positionals.length > 1) throw new UsageError('watch takes one pattern; put it in quotes')
  refuseUrl('the pattern', positionals[0])
  return await withConnection(values, async (connection) => {
    const over = stopped()
    const enabled = values['enable-notifications'] ? await EnabledNotifications.enable(connection) : []
    try {
      await watch(connection, positionals[0], values.json === true, over)
    } finally {
      for (const each of enabled) await each.end()
    }
    return EXIT.done
  })
}

async function watch(
  connection: Connection,
  pattern: string | undefined,
  json: boolean,
  over: Promise<void>,
): Promise<void> {
  const screen = new Screen()
  const matches = pattern === undefined ? () => true : glob(pattern)
  const known = new Map<string, Row>()
  let told = await notificationsOf(connection)
  let hearsMessages = true
  const signals = new Map<string, Heard>()
  let reading: Promise<void> = Promise.resolve()
  /** When the keys end that have an expiry, by the clock of this machine. */
  const ends = new Map<string, number>()
  const keep = (row: Row) => {
    known.set(row.name, row)
    sharded?.want(row.name, row)
    if ((row.ttl ?? -1) >= 0) ends.set(row.name, Date.now() + row.ttl!)
    else ends.delete(row.name)
  }
  const look = async (name: string) => {
    const since = signals.get(name)
    if (!since) return
    signals.delete(name)
    const node = connection.primaryOf(name)
    const [now] = await readObjects(connection, node, [name], () => ({ all: false }))
    const before = known.get(name)
    // While others hold it still, the end of one hold notifies none.
    const everyMessage =
      told.keys &&
      hearsMessages &&
      !now &&
      (!sharded || (before !== undefined && (await sharded.heardAll(before))))
    // The message of a release comes behind the event of its key, perhaps since the look began.
    const events = new Set([
      ...since.events,
      ...(signals.get(name)?.events.has('message') ? ['message'] : []),
    ])
    const { owners } = since
    if (!now && !events.has('message') && Date.now() >= (ends.get(name) ?? Number.POSITIVE_INFINITY))
      events.add('expired')
    for (const change of changesBetween(name, before, now, { events, owners, everyMessage })) {
      if (json) screen.json({ at: new Date().toISOString(), ...change })
      else
        screen.line(
          `${new Date().toISOString()}  ${change.event.padEnd(12)}  ${safe(change.name)}  ${safe(change.owner, 60)}` +
            `${change.from === null ? '' : `  from ${safe(change.from, 60)}`}`,
        )
    }
    if (now) keep(now)
    else known.delete(name)
  }
  const heard = (name: string, signal: string, owners: readonly string[] = []) => {
    if (!matches(name)) return
    const since = signals.get(name) ?? { events: new Set(), owners: new Set() }
    since.events.add(signal)
    for (const owner of owners) since.owners.add(owner)
    if (!signals.has(name)) {
      signals.set(name, since)
      // One look after the other: the order of the events of one name is that of the looks.
      reading = reading.then(() => look(name)).catch(() => {})
    }
  }
  const heardMessage = (channel: string) => {
    const [, part = ''] = MESSAGES.exec(channel) ?? []
    for (const name of namesIn(part)) heard(name, 'message')
  }
  const sharded = ShardedMessages.open(connection, heardMessage)
  const database = Number(connection.primaries()[0]?.options.db ?? 0)
  const events = `__keyevent@${database}__:`
  const subkeys = `__subkeyevent@${database}__:`
  const patterns = [`${events}*`, `${subkeys}*`, 'redisson_lock__channel:*', 'redisson_rwlock:*']
  const listening = await Promise.all(
    connection.primaries().map((node) =>
      connection.listenAt(node, patterns, (channel, text) => {
        if (channel.startsWith(events)) heard(text, channel.slice(events.length))
        else if (channel.startsWith(subkeys)) {
          const { key, fields = [] } = parseSubkeys(text) ?? {}
          if (key !== undefined)
            heard(
              key,
              'subkeys',
              fields.filter((field) => parseOwner(field)),
            )
        } else heardMessage(channel)
      }),
    ),
  )
  try {
    const refused = new Set(listening.flatMap((each) => each.refused))
    const hears = (...wanted: string[]) => wanted.every((each) => !refused.has(each))
    const [ofKeys, ofFields, ...ofMessages] = patterns as [string, string, ...string[]]
    told = { keys: told.keys && hears(ofKeys), fields: told.fields && hears(ofFields) }
    hearsMessages = sharded !== undefined || hears(...ofMessages)
    const isOneName = pattern !== undefined && !/[*?[\]\\]/.test(pattern)
    if (isOneName) sharded?.want(pattern, undefined)
    const ended = over.then(() => true)
    for await (const rows of findLocks(connection, pattern)) {
      for (const row of rows) if (!known.has(row.name)) keep(row)
      if (await Promise.race([ended, false])) break
    }
    const learnsNames = sharded !== undefined && !isOneName
    sayWhatIsSeen({ ...told, learnsNames, messages: hearsMessages, refused: refused.size > 0 }, screen, json)
    // What no event tells: FLUSHALL, and every end while notifications are off.
    const again = setInterval(() => {
      for (const name of known.keys()) heard(name, 'time')
    }, LOOK_AGAIN)
    const search = async () => {
      for await (const rows of findLocks(connection, pattern))
        for (const { name } of rows) if (!known.has(name)) heard(name, 'time')
    }
    if ((sharded || !hearsMessages) && !told.keys) await searchUntil(over, search)
    await over
    clearInterval(again)
    await reading
  } finally {
    for (const each of listening) each.close()
    sharded?.close()
  }
}

async function searchUntil(over: Promise<void>, search: () => Promise<void>): Promise<void> {
  for (let ended = false; !ended; ) {
    const began = performance.now()
    await search()
    const rest = Math.max(SEARCH_AGAIN, SEARCH_PAUSE * (performance.now() - began))
    ended = await Promise.race([over.then(() => true), pause(rest)])
  }
}

interface Sources extends Notifications {
  readonly messages: boolean
  /** Whether messages are sharded, and names are not given. */
  readonly learnsNames: boolean
  /** Whether the user may not listen to some of it. */
  readonly refused: boolean
}

function sayWhatIsSeen(told: Sources, screen: Screen, json: boolean): void {
  const sources = [
    ...(told.messages ? ['messages of releases'] : []),
    ...(told.keys ? ['keyspace notifications'] : []),
    ...(told.fields ? ['subkey notifications'] : []),
    ...(told.messages || told.keys ? [] : ['a look at each lock every second']),
  ]
  const unseen = [
    ...(told.refused
      ? [
          `${told.messages ? 'notifications' : 'releases'} at once: the right to PSUBSCRIBE to their channels is missing`,
        ]
      : []),
    ...(told.keys
      ? []
      : ['acquisitions and expiries at once: keyspace notifications are off, see --enable-notifications']),
    ...(told.learnsNames
      ? [`messages about ${told.keys ? SOON : LATER}: sharded channels have no patterns`]
      : []),
    ...(told.fields ? [] : ['a hold that begins and ends between two looks: Redis 8.8 and later tell it']),
  ]
  if (json) screen.json({ event: 'watching', sources, unseen })
  else screen.line(`watching by ${sources.join(' and ')}; not seen: ${unseen.join('; ') || 'nothing'}`)
}

const SOON = 'a name in the first second after its key was seen, where a lost hold looks released'
const LATER = 'a name until a search has found its key, every two seconds or less often'
