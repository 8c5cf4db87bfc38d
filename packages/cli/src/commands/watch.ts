import { parseArgs } from 'node:util'
import type { Redis } from 'ioredis'
import { changesBetween } from '../changes'
import type { Connection } from '../connection'
import { EXIT, UsageError } from '../exit'
import { findObjects, glob } from '../find'
import type { Row } from '../model'
import { readObjects } from '../read-objects'
import { CONNECTION_OPTIONS } from '../target'
import { Screen, safe } from '../terminal'
import { help, stopped, withConnection } from './session'

const USAGE = `
usage: rlock watch [pattern] [--enable-notifications] [--json]

Shows locks while they are acquired, re-entered, handed on, released or expire, until it is interrupted. It says first
which sources it has here, and what it therefore cannot see.

  --enable-notifications  turns keyspace notifications on while it runs, and puts the setting back at its end`

/** Keyevents of hashes, of keys that are deleted, and of keys that expire. */
const NEEDED = 'Eghx'
const MESSAGES = /^(?:redisson_lock__channel|redisson_rwlock):(?:\{([^{]*)\}|(.*?))(?::[0-9a-f-]{36}:\d+)?$/s

export async function run(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { ...CONNECTION_OPTIONS, 'enable-notifications': { type: 'boolean' } },
  })
  if (values.help) return help(USAGE)
  if (positionals.length > 1) throw new UsageError('watch takes one pattern; put it in quotes')
  return await withConnection(values, async (connection) => {
    const over = stopped()
    const putBack = values['enable-notifications'] ? await enable(connection) : []
    try {
      await watch(connection, positionals[0], values.json === true, over)
    } finally {
      for (const [node, before] of putBack) await node.config('SET', 'notify-keyspace-events', before)
    }
    return EXIT.done
  })
}

/** Turns the notifications on that are missing. Returns what to put back. */
async function enable(connection: Connection): Promise<[Redis, string][]> {
  const changed: [Redis, string][] = []
  for (const node of connection.primaries()) {
    const before = await setting(connection, node)
    if (before === undefined || hasAll(before)) continue
    await node.config('SET', 'notify-keyspace-events', before + NEEDED)
    changed.push([node, before])
  }
  return changed
}

async function setting(connection: Connection, node: Redis): Promise<string | undefined> {
  const missing = 'whether keyspace notifications are on: the right to CONFIG GET is missing'
  const answer = await connection.tell(node, missing, 'config', 'get', 'notify-keyspace-events')
  return answer === undefined ? undefined : ((answer as string[])[1] ?? '')
}

const hasAll = (flags: string) =>
  flags.includes('E') && (flags.includes('A') || ['g', 'h', 'x'].every((flag) => flags.includes(flag)))

async function watch(
  connection: Connection,
  pattern: string | undefined,
  json: boolean,
  over: Promise<void>,
): Promise<void> {
  const screen = new Screen()
  const matches = pattern === undefined ? () => true : glob(pattern)
  const known = new Map<string, Row>()
  const signals = new Map<string, Set<string>>()
  let reading: Promise<void> = Promise.resolve()
  const look = async (name: string) => {
    const since = signals.get(name)
    if (!since) return
    signals.delete(name)
    const node = connection.primaryOf(name)
    const [now] = await readObjects(connection, node, [name], () => ({ all: false }))
    for (const change of changesBetween(name, known.get(name), now, since)) {
      if (json) screen.json({ at: new Date().toISOString(), ...change })
      else
        screen.line(
          `${new Date().toISOString()}  ${change.event.padEnd(12)}  ${safe(change.name)}  ${safe(change.owner, 60)}` +
            `${change.from === null ? '' : `  from ${safe(change.from, 60)}`}`,
        )
    }
    if (now) known.set(name, now)
    else known.delete(name)
  }
  const heard = (name: string, signal: string) => {
    if (!matches(name)) return
    const since = signals.get(name)
    if (since) since.add(signal)
    else {
      signals.set(name, new Set([signal]))
      // One look after the other: the order of the events of one name is that of the looks.
      reading = reading.then(() => look(name)).catch(() => {})
    }
  }
  const database = Number(connection.primaries()[0]?.options.db ?? 0)
  const events = `__keyevent@${database}__:`
  const patterns = [`${events}*`, 'redisson_lock__channel:*', 'redisson_rwlock:*']
  const listening = await Promise.all(
    connection.primaries().map((node) =>
      connection.listenAt(node, patterns, (channel, text) => {
        if (channel.startsWith(events)) heard(text, channel.slice(events.length))
        else {
          const [, braced, plain] = MESSAGES.exec(channel) ?? []
          const name = braced ?? plain
          if (name !== undefined) heard(name, 'message')
        }
      }),
    ),
  )
  try {
    for (const row of (await findObjects(connection, { pattern })).rows)
      if (!known.has(row.name)) known.set(row.name, row)
    await sayWhatIsSeen(connection, screen, json)
    await over
    await reading
  } finally {
    for (const each of listening) each.close()
  }
}

async function sayWhatIsSeen(connection: Connection, screen: Screen, json: boolean): Promise<void> {
  const settings = await Promise.all(connection.primaries().map((node) => setting(connection, node)))
  const notifications = settings.every((flags) => flags !== undefined && hasAll(flags))
  const sharded = connection.publish === 'spublish'
  const sources = [
    ...(sharded ? [] : ['messages of releases']),
    ...(notifications ? ['keyspace notifications'] : []),
  ]
  const unseen = [
    ...(notifications
      ? []
      : ['acquisitions and expiries: keyspace notifications are off, see --enable-notifications']),
    ...(sharded ? ['messages of releases: this cluster publishes them sharded'] : []),
    'a hold that begins and ends between two looks',
  ]
  if (json) screen.json({ event: 'watching', sources, unseen })
  else screen.line(`watching by ${sources.join(' and ') || 'nothing'}; not seen: ${unseen.join('; ')}`)
}
