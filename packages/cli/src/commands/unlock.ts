import { createInterface } from 'node:readline/promises'
import { parseArgs } from 'node:util'
import type { Connection } from '../connection'
import { EXIT, UsageError } from '../exit'
import { findOne } from '../find'
import { free } from '../free'
import type { Kind, Row } from '../model'
import { withHolder } from '../owners'
import { CONNECTION_OPTIONS, refuseUrl } from '../target'
import { Screen, safe } from '../terminal'
import { asTable, kindOf } from './ls'
import { help, withConnection } from './session'

const USAGE = `
usage: rlock unlock NAME [--owner OWNER] [--yes] [--kind token] [--json]

Shows who holds the lock and who waits, asks, and frees only the holder that it has shown, with the message that wakes
the waiters. The process of the holder is not told: it notices at its next renewal, or at the end of its leaseTime. Ends
with 1 if the lock is not held, or by another holder by now.

  --owner OWNER  only if this is the holder, as ls --json shows it; of a read lock only this reader, of a
                 semaphore whose permits expire this permit
  --yes          does not ask; needed where there is no terminal
  --kind token   the name is a token lock: a string that only its user knows to be a lock`

const LOCKS: readonly Kind[] = [
  'lock',
  'fenced',
  'fair',
  'read-write',
  'token',
  'election',
  'permit-expirable-semaphore',
]

/** The question names so many owners. The table above it has all that are listed. */
const MOST_SHOWN = 5

export async function run(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      ...CONNECTION_OPTIONS,
      owner: { type: 'string' },
      yes: { type: 'boolean' },
      kind: { type: 'string' },
    },
  })
  if (values.help) return help(USAGE)
  const [name, ...others] = positionals
  if (name === undefined || others.length > 0) throw new UsageError('unlock takes one name')
  refuseUrl('the name', name)
  if (!values.yes && (!process.stdin.isTTY || values.json))
    throw new UsageError('unlock asks on a terminal; without one it needs --yes')
  const kind = kindOf(values.kind)
  return await withConnection(values, async (connection) => {
    const { row: found } = await findOne(connection, name, kind)
    const row =
      found && values.owner !== undefined ? await withHolder(connection, found, values.owner) : found
    const screen = new Screen()
    const say = (result: string, owners: readonly string[]) => {
      if (values.json) screen.json({ name, result, owners })
      else screen.line(`${safe(name)}: ${result}`)
    }
    const owners = ownersOf(row, values.owner)
    if (!row || owners.length === 0) {
      say(notHeld(row, connection.refusedKeys), [])
      return EXIT.found
    }
    if (!LOCKS.includes(row.kind))
      throw new UsageError(`${safe(name)} is a ${row.kind}, which has no holder to free`)
    if (owners.length > 1 && row.kind === 'permit-expirable-semaphore')
      throw new UsageError(
        `${safe(name)} has ${owners.length + row.moreHolders} permits in use: say which with --owner permit:…`,
      )
    if (values.yes) return await freed(connection, row, owners, say)
    if (!(await confirmed(screen, row, owners))) return EXIT.found
    // Meanwhile a plain lock may have got a queue, whose first waiter has a channel of its own.
    const { row: now } = await findOne(connection, name, kind)
    return await freed(connection, now ?? row, owners, say)
  })
}

function notHeld(row: Row | undefined, refused: boolean): string {
  if (!row && refused) return 'not known: this user may not read the key'
  if (row && !LOCKS.includes(row.kind)) return `a ${row.kind}, which has no holder to free`
  return row && row.holders.length > 0 ? 'held by another' : 'not held'
}

function ownersOf(row: Row | undefined, owner: string | undefined): string[] {
  const owners = row?.holders.map((holder) => holder.owner) ?? []
  return owner === undefined ? owners : owners.filter((each) => each === owner)
}

async function confirmed(screen: Screen, row: Row, owners: readonly string[]): Promise<boolean> {
  screen.line(asTable([row], screen))
  const shown = owners.slice(0, MOST_SHOWN).map((owner) => safe(owner))
  const others = owners.length - shown.length
  const whom = `${shown.join(', ')}${others > 0 ? ` and of ${others} more` : ''}`
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  try {
    const answer = await terminal.question(
      `The holder goes on until it notices. Free the hold of ${whom}? [y/N] `,
    )
    return /^y(es)?$/i.test(answer.trim())
  } finally {
    terminal.close()
  }
}

async function freed(
  connection: Connection,
  row: Row,
  owners: readonly string[],
  say: (result: string, owners: readonly string[]) => void,
): Promise<number> {
  const result = await free(connection, row, owners)
  say(result === 'gone' ? 'held by another, or free, by now' : result, result === 'gone' ? [] : owners)
  return result === 'gone' || result === 'freed, but no message was sent' ? EXIT.found : EXIT.done
}
