import { parseArgs } from 'node:util'
import type { Connection } from '../connection'
import { EXIT, UsageError } from '../exit'
import { findObjects, findOne } from '../find'
import { free } from '../free'
import { deadlocks } from '../graph'
import { openBrowser } from '../page/opened'
import { type Facts, servePage } from '../page/server'
import { type View, viewOf } from '../page/view'
import { CONNECTION_OPTIONS, refuseUrl } from '../target'
import { Screen, safe } from '../terminal'
import { help, stopped, withConnection } from './session'

const USAGE = `
usage: rlock page [pattern] [--port N] [--no-open] [--allow-unlock] [--json]

Shows locks, their holders and the callers that wait in a browser on this machine, live. The address contains a token:
who has it can read the names of locks, so do not pass it on.

  --port N         the port; any free one
  --no-open        prints the address and opens no browser
  --allow-unlock   the page may free holds; without it, the page is read-only`

const MOST_PORT = 65_535
const MOST_SHOWN = 500

export async function run(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      ...CONNECTION_OPTIONS,
      port: { type: 'string' },
      'no-open': { type: 'boolean' },
      'allow-unlock': { type: 'boolean' },
    },
  })
  if (values.help) return help(USAGE)
  if (positionals.length > 1) throw new UsageError('page takes one pattern; put it in quotes')
  refuseUrl('the pattern', positionals[0])
  const port = Number(values.port ?? 0)
  if (!Number.isInteger(port) || port < 0 || port > MOST_PORT) throw new UsageError('--port takes a number')
  return await withConnection(values, async (connection) => {
    const over = stopped()
    const page = await servePage(port, {
      read: () => read(connection, positionals[0]),
      unlock: values['allow-unlock'] ? (name, owner) => unlock(connection, name, owner) : undefined,
    })
    const screen = new Screen()
    if (values.json) screen.json({ address: page.address })
    else screen.line(page.address)
    const opened = values['no-open'] ? undefined : openBrowser(page.address)
    await over
    opened?.remove()
    await page.close()
    return EXIT.done
  })
}

async function read(connection: Connection, pattern: string | undefined): Promise<View & Facts> {
  const found = await findObjects(connection, { pattern })
  const cycles = await deadlocks(connection, found.processes)
  const unseen = [...connection.unseen].map((missing) => safe(missing, MOST_SHOWN))
  // Without the times: a screen reader would read the text again each second.
  const said = cycles.map((cycle) =>
    cycle.map(
      ({ label, holds, waits }) =>
        `${safe(label)} holds ${safe(holds.name)} and waits for ${safe(waits.name)}`,
    ),
  )
  return { ...viewOf(found, pattern), deadlocks: said.map((each) => `Deadlock: ${each.join('; ')}.`), unseen }
}

async function unlock(connection: Connection, name: string, owner: string): Promise<string> {
  const { row } = await findOne(connection, name, undefined)
  const isHolder = row?.holders.some((holder) => holder.owner === owner && holder.clientId !== null)
  return row && isHolder ? await free(connection, row, [owner]) : 'held by another, or free, by now'
}
