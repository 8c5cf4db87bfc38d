// npm run endurance: what a million names, ten thousand waiters and a hundred thousand held locks cost a process.

import { spawnSync } from 'node:child_process'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { optionsOrExit, wholeOption } from '../../kit/cli'
import { liveLine } from '../../kit/terminal/live-line'
import { measure, PACKAGE } from './measure'
import type { Order } from './messages'
import { BOUNDS, type Row, rowsOf, table } from './verdict'

const USAGE = `usage: npm run endurance -- [--cycles N] [--objects N] [--waiters N] [--held N]

Measures what great numbers of locks, waiters and holds cost one process, and whether anything of them stays.
It builds the package, starts a Redis server of its own and measures in a process of plain node.

  --cycles N    lock and unlock so many names once each; heap and handles before and after (1000000)
  --objects N   the same of fair, spin, non-reentrant, token, fenced and multi locks, semaphores, permits and
                latches (1000000)
  --waiters N   so many waiters on one lock; heap and handles before and after (10000)
  --held N      so many locks held and renewed at a time, for five leases; the delay of the event loop (100000)

With none of them: all four. It may take twelve minutes then.
Exit code: 0 when every bound was kept, 1 when one was missed or something failed, 2 for bad arguments.`

/** Undefined when help was asked for; throws when the arguments make no sense. */
export function parseOptions(args: string[]): readonly Order[] | undefined {
  const { values } = parseArgs({
    args,
    options: {
      cycles: { type: 'string' },
      objects: { type: 'string' },
      waiters: { type: 'string' },
      held: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return undefined
  const { cycles, objects, waiters, held } = values
  const isAll = [cycles, objects, waiters, held].every((given) => given === undefined)
  const asked = (given: string | undefined, order: Order) => (isAll || given !== undefined ? [order] : [])
  const count = (name: string, given: string | undefined, otherwise: number, least = 1) =>
    wholeOption(name, given, otherwise, least, 100_000_000)
  return [
    ...asked(cycles, { part: 'cycles', of: 'locks', count: count('cycles', cycles, 1_000_000) }),
    ...asked(objects, { part: 'cycles', of: 'objects', count: count('objects', objects, 1_000_000) }),
    ...asked(waiters, { part: 'waiters', count: count('waiters', waiters, 10_000, 10) }),
    ...asked(held, { part: 'held', count: count('held', held, 100_000), leases: 5, lease: 30_000 }),
  ]
}

/** Resolves with whether every bound was kept. */
async function endurance(orders: readonly Order[]): Promise<boolean> {
  const builder = join(__dirname, '../../../scripts/build.mjs')
  const built = spawnSync(process.execPath, [builder], { stdio: 'inherit' })
  if (built.status !== 0) throw new Error('the package could not be built')
  const line = liveLine()
  const measured: Row[] = []
  for (const order of orders) {
    const load = loadavg()[0]!
    const { result, serverVersion } = await measure(order, PACKAGE, line.show).finally(line.clear)
    const rows = rowsOf(result, BOUNDS)
    measured.push(...rows)
    console.log(`${table(rows)}\nNode ${process.version}, ${serverVersion}, load before ${load.toFixed(2)}\n`)
  }
  const missed = measured.filter(({ kept }) => kept === false)
  for (const { what, figure, bound } of missed) console.log(`Missed: ${what}: ${figure}, wanted ${bound}`)
  if (missed.length === 0) console.log('Every bound was kept.')
  return missed.length === 0
}

if (require.main === module)
  endurance(optionsOrExit(parseOptions, USAGE)).then(
    (kept) => process.exit(kept ? 0 : 1),
    (error: Error) => {
      console.error(`The run failed: ${error.message}`)
      process.exit(1)
    },
  )
