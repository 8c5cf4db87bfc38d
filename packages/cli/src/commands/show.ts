import { parseArgs } from 'node:util'
import { channelsOf, keysOf } from '../details'
import { EXIT, UsageError } from '../exit'
import { explain } from '../explain'
import { findOne } from '../find'
import { deadlocks } from '../graph'
import { askProcesses } from '../processes'
import { CONNECTION_OPTIONS, refuseUrl } from '../target'
import { jsonLine, Screen, safe } from '../terminal'
import { showTime } from '../times'
import { asTable, kindOf } from './ls'
import { help, withConnection } from './session'

const USAGE = `
usage: rlock show NAME [--kind KIND] [--json]

Everything that is known about one name, and where it comes from: the keys in Redis, the server, and the processes.
Ends with 1 if nothing of this name is there.`

const MOST_SHOWN = 400

export async function run(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { ...CONNECTION_OPTIONS, kind: { type: 'string' } },
  })
  if (values.help) return help(USAGE)
  const [name, ...others] = positionals
  if (name === undefined || others.length > 0) throw new UsageError('show takes one name')
  refuseUrl('the name', name)
  const kind = kindOf(values.kind)
  return await withConnection(values, async (connection) => {
    const { row, processes } = await findOne(connection, name, kind)
    const keys = row ? await keysOf(connection, row) : []
    const channels = row ? await channelsOf(connection, row, keys) : []
    // Who blocks whom needs the other locks of the callers, too.
    const waits = processes.some((process) => process.waits.length > 0)
    const all = waits ? await askProcesses(connection) : processes
    const cycles = (await deadlocks(connection, all)).filter((cycle) =>
      cycle.some(({ holds, waits: wanted }) => holds.name === name || wanted.name === name),
    )
    const answering = processes.filter((process) => process.holds.length + process.waits.length > 0)
    const explanation = explain(row, answering, cycles, connection.refusedKeys)
    const screen = new Screen()
    if (values.json)
      screen.json({
        ...{ name, object: row ?? null, keys, channels },
        ...{ processes: answering, deadlocks: cycles, explanation },
      })
    else {
      if (row) screen.line(asTable([row], screen))
      const heading = (text: string, list: readonly unknown[]) => {
        if (list.length > 0) screen.line(`\n${screen.style('bold', text)}`)
      }
      heading('Keys in Redis', keys)
      for (const { key, role, ttl, content } of keys)
        screen.line(`  ${role}: ${safe(key)}  TTL ${showTime(ttl)}  ${safe(jsonLine(content), MOST_SHOWN)}`)
      heading('Channels', channels)
      for (const { channel, listeners } of channels)
        screen.line(`  ${safe(channel, 140)}  listeners: ${listeners ?? 'not known'}`)
      heading('Processes that answer', answering)
      for (const { label, client, holds, waits: waiting } of answering) {
        screen.line(`  ${safe(label)}  client ${safe(client)}`)
        for (const hold of holds)
          screen.line(
            `    holds as ${safe(hold.owner)} for ${showTime(hold.heldFor)}${hold.maxHoldTime === undefined ? '' : ` of ${showTime(hold.maxHoldTime)}`}  ${safe(hold.at ?? '', 200)}`,
          )
        for (const wait of waiting)
          screen.line(
            `    waits for ${showTime(wait.waitingFor)}, place ${wait.place}  ${safe(wait.at ?? '', 200)}`,
          )
      }
      heading('What it means', explanation)
      for (const sentence of explanation) screen.line(`  ${sentence}`)
    }
    return row ? EXIT.done : EXIT.found
  })
}
