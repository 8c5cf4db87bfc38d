import { parseArgs } from 'node:util'
import { wholeOption as whole } from '../../kit/cli'
import { HELD_KINDS, type HeldKind, type Order } from './messages'

export interface EnduranceOptions {
  readonly orders: readonly Order[]
  /** Where to write all figures. */
  readonly json: string | undefined
}

export const USAGE = `usage: npm run endurance -- [--cycles N] [--objects N] [--waiters N] [--held N [--leases N] [--lease MS] [--kind KIND]] [--json FILE]

Measures what great numbers of locks, waiters and holds cost one process, and whether anything of them stays.
It builds the package, starts a Redis server of its own and measures in a process of plain node.

  --cycles N    lock and unlock so many names once each; heap and handles before and after (1000000)
  --objects N   the same of fair, spin, non-reentrant, token, fenced and multi locks, semaphores, permits and
                latches (1000000)
  --waiters N   so many waiters on one lock; heap and handles before and after (10000)
  --held N      so many locks held and renewed at a time; the delay of the event loop (100000)
  --leases N    for so many leases (5)
  --lease MS    lockWatchdogTimeout (30000)
  --kind KIND   lock, read, fair or token (lock)
  --json FILE   all figures, into that file

With none of --cycles, --objects, --waiters and --held: all four. It may take twelve minutes then.
Exit code: 0 when every bound was kept, 1 when one was missed or something failed, 2 for bad arguments.`

/** Undefined when help was asked for; throws when the arguments make no sense. */
export function parseOptions(args: string[]): EnduranceOptions | undefined {
  const { values } = parseArgs({
    args,
    options: {
      cycles: { type: 'string' },
      objects: { type: 'string' },
      waiters: { type: 'string' },
      held: { type: 'string' },
      leases: { type: 'string' },
      lease: { type: 'string' },
      kind: { type: 'string' },
      json: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return undefined
  const { cycles, objects, waiters, held, leases, lease, kind, json } = values
  const all = cycles === undefined && objects === undefined && waiters === undefined && held === undefined
  if (held === undefined && (leases !== undefined || lease !== undefined || kind !== undefined))
    throw new TypeError('--leases, --lease and --kind say how locks are held: add --held')
  if (kind !== undefined && !HELD_KINDS.includes(kind as HeldKind))
    throw new TypeError(`--kind must be one of ${HELD_KINDS.join(', ')}`)
  const orders: Order[] = []
  if (all || cycles !== undefined)
    orders.push({ part: 'cycles', of: 'locks', count: whole('cycles', cycles, 1_000_000, 1, 100_000_000) })
  if (all || objects !== undefined)
    orders.push({
      part: 'cycles',
      of: 'objects',
      count: whole('objects', objects, 1_000_000, 1, 100_000_000),
    })
  if (all || waiters !== undefined)
    orders.push({ part: 'waiters', count: whole('waiters', waiters, 10_000, 10, 1_000_000) })
  if (all || held !== undefined)
    orders.push({
      part: 'held',
      count: whole('held', held, 100_000, 1, 1_000_000),
      leases: whole('leases', leases, 5, 1, 10_000),
      lease: whole('lease', lease, 30_000, 300, 3_600_000),
      kind: (kind as HeldKind) ?? 'lock',
    })
  if (json === '') throw new TypeError('--json takes the name of a file')
  return { orders, json }
}
