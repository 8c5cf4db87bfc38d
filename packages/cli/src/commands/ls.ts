import { parseArgs } from 'node:util'
import type { Connection } from '../connection'
import { EXIT, UsageError } from '../exit'
import { findObjects } from '../find'
import { type Holder, KINDS, type Kind, type Row } from '../model'
import { CONNECTION_OPTIONS, refuseUrl } from '../target'
import { Screen, safe, table } from '../terminal'
import { parseTime, showTime } from '../times'
import { help, pause, stopped, withConnection } from './session'

const USAGE = `
usage: rlock ls [pattern] [--held] [--longer-than TIME] [--kind KIND] [--all] [--watch] [--json]

Lists locks, semaphores and latches with their holders. The pattern is that of SCAN: * ? [ab].

  --held               only what has a holder
  --longer-than TIME   only what is held for longer, as far as that is known: 500ms, 50s, 5m
  --kind KIND          says what a number or a string is: ${KINDS.join(', ')}
  --all                shows every number, too: it may be a semaphore or a latch
  --watch              shows it again each second`

const REFRESH = 1_000

export async function run(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      ...CONNECTION_OPTIONS,
      held: { type: 'boolean' },
      'longer-than': { type: 'string' },
      kind: { type: 'string' },
      all: { type: 'boolean' },
      watch: { type: 'boolean' },
    },
  })
  if (values.help) return help(USAGE)
  if (positionals.length > 1) throw new UsageError('ls takes one pattern; put it in quotes')
  refuseUrl('the pattern', positionals[0])
  const longer =
    values['longer-than'] === undefined ? undefined : parseTime('longer-than', values['longer-than'])
  const find = { pattern: positionals[0], kind: kindOf(values.kind), all: values.all }
  const isShown = (row: Row) => {
    if (longer !== undefined) return row.holders.some(({ heldFor }) => (heldFor ?? 0) > longer)
    return !values.held || row.holders.length > 0
  }
  return await withConnection(values, async (connection) => {
    const screen = new Screen()
    const show = async () => {
      const { rows } = await findObjects(connection, find)
      const shown = rows.filter(isShown)
      if (values.json) for (const row of shown) screen.json(row)
      else if (values.watch) screen.redraw(asTable(shown, screen))
      else screen.line(asTable(shown, screen))
    }
    if (values.watch) await watch(connection, show)
    else await show()
    return EXIT.done
  })
}

async function watch(connection: Connection, show: () => Promise<void>): Promise<void> {
  const over = stopped()
  for (let ended = false; !ended; ) {
    connection.unseen.clear()
    await show()
    ended = await Promise.race([over.then(() => true), pause(REFRESH)])
  }
}

export function kindOf(given: string | undefined): Kind | undefined {
  if (given === undefined || (KINDS as readonly string[]).includes(given)) return given as Kind | undefined
  throw new UsageError(`--kind takes one of ${KINDS.join(', ')}`)
}

/** A row for each holder; what belongs to the object stands in its first row. */
export function asTable(rows: readonly Row[], screen: Screen): string {
  if (rows.length === 0) return 'no locks found'
  const headings = ['NAME', 'KIND', 'OWNER', 'COUNT', 'TTL', 'HELD', 'HOST', 'PROCESS', 'WAITING']
  const cells = rows.flatMap((row) => [
    ...(row.holders.length > 0 ? row.holders : [undefined]).map((holder, at) => [
      at === 0 ? safe(row.name) : '',
      at === 0 ? kindOfRow(row) : '',
      ...(holder ? holderCells(holder) : [withoutHolder(row), '-', '-', '-', '-', '-']),
      at === 0 ? waitingOf(row) : '',
    ]),
    ...(row.moreHolders > 0 ? [['', '', `and ${row.moreHolders} more holders`]] : []),
  ])
  const [head, ...lines] = table(headings, cells).split('\n')
  return [screen.style('bold', head!), ...lines].join('\n')
}

function kindOfRow({ kind, mode, value }: Row): string {
  if (kind === 'election' && value !== null) return `election (term ${value})`
  return mode ? `${kind} (${mode})` : kind
}

/** What stands in place of a holder. A number of which nothing says what it is may be any counter. */
function withoutHolder({ kind, value }: Row): string {
  if (value === null) return '-'
  if (kind === 'semaphore-or-latch') return `number ${value}`
  return kind === 'latch' ? `count ${value}` : `${value} free`
}

function holderCells({ owner, count, ttl, heldFor, maxHoldTime, host, process, label }: Holder): string[] {
  const who = label ?? process
  return [
    safe(owner, 48),
    count === null ? '-' : String(count),
    showTime(ttl),
    maxHoldTime === null ? showTime(heldFor) : `${showTime(heldFor)} of ${showTime(maxHoldTime)}`,
    host === null ? '-' : safe(host, 40),
    who === null ? '-' : safe(who, 40),
  ]
}

function waitingOf({ waiting: { processes, callers, queue } }: Row): string {
  const parts = [
    callers === null ? '' : `${callers} ${callers === 1 ? 'caller' : 'callers'}`,
    processes === null ? '' : `${processes} ${processes === 1 ? 'process' : 'processes'}`,
    queue === null ? '' : `${queue} queued`,
  ]
  return parts.filter((part) => part !== '' && !part.startsWith('0 ')).join(', ') || '-'
}
