import { parseArgs } from 'node:util'
import type { Connection } from '../connection'
import { examine } from '../doctor/examine'
import { EXIT, UsageError } from '../exit'
import { CONNECTION_OPTIONS } from '../target'
import { Screen, safe } from '../terminal'
import { parseTime } from '../times'
import { help, withConnection } from './session'

const USAGE = `
usage: rlock doctor [--names PATTERN] [--longer-than TIME] [--fix] [--json]

Says what would go wrong with locks on this server, and what to do. Run it with the user of the services: it says which
rights that user lacks. Ends with 1 if it found something.

  --names PATTERN     the names that the services use, such as 'order:*', for the check of rights; may be given several
                      times. Without it, they come from the rules of the user and from the locks that are there
  --longer-than TIME  finds what is held for longer, as far as processes say since when: 500ms, 50s, 5m; absent: longer than
                      its own maxHoldTime
  --fix               corrects what can be corrected without harm: places and deadlines of waiters that are gone,
                      timeouts of holds that are gone, the expiry of a fencing counter. It looks again before each, and
                      says what it did not correct. It changes no setting of the server and frees no lock`

const FIXED = 'fixed'

export async function run(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      ...CONNECTION_OPTIONS,
      fix: { type: 'boolean' },
      names: { type: 'string', multiple: true },
      'longer-than': { type: 'string' },
    },
  })
  if (values.help) return help(USAGE)
  if (positionals.length > 0) throw new UsageError('doctor takes no name')
  const given = values['longer-than']
  const longerThan = given === undefined ? undefined : parseTime('longer-than', given)
  return await withConnection(values, async (connection) => {
    const findings = await examine(connection, values.names, longerThan)
    const screen = new Screen()
    for (const { mend, ...finding } of findings) {
      const result = values.fix && mend ? await mended(connection, mend) : undefined
      if (values.json) {
        screen.json(values.fix ? { ...finding, fixed: result === FIXED } : finding)
        continue
      }
      const level = screen.style(finding.level === 'error' ? 'red' : 'yellow', finding.level.padEnd(5))
      screen.line(`${level} ${finding.id}: ${safe(finding.message, 600)}`)
      screen.line(`      ${result ?? safe(finding.fix, 600)}`)
      screen.line(`      ${finding.page}`)
    }
    if (findings.length === 0 && !values.json)
      screen.line(connection.unseen.size > 0 ? 'nothing found in what could be seen' : 'nothing found')
    return findings.length > 0 ? EXIT.found : EXIT.done
  })
}

/** One correction that the server refuses does not keep the others from being made. */
async function mended(connection: Connection, mend: () => Promise<boolean>): Promise<string> {
  try {
    return (await mend()) ? FIXED : 'not fixed: it has changed by now'
  } catch (error) {
    return `not fixed: ${safe(connection.safeError(error).message, 200)}`
  }
}
