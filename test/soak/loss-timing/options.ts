import { parseArgs } from 'node:util'
import { wholeOption as whole } from '../../kit/cli'
import { SENTINEL_FAULTS, STANDALONE_FAULTS } from './faults'

export interface LossOptions {
  readonly rounds: number
  /** ms */
  readonly lease: number
  readonly lanes: number
  readonly json: string | undefined
  /** Ids of faults. */
  readonly only: ReadonlySet<string>
}

const IDS = [...STANDALONE_FAULTS, ...SENTINEL_FAULTS].map(({ id }) => id)

export const USAGE = `usage: npm run loss -- [--rounds N] [--lease MS] [--lanes N] [--only a,b] [--json file]

A process holds a lock, another client waits for it, and something breaks: how soon does the holder's signal
abort, and does it before Redis lets the other in?

  --rounds N   rounds a fault (10)
  --lease MS   the lease (2000)
  --lanes N    rounds at a time, each with a server and a process of its own (4)
  --only a,b   these faults only, of ${IDS.join(', ')}
  --json file  every round, and the table, to a file`

/** Undefined when help was asked for; throws when the arguments make no sense. */
export function parseOptions(args: string[]): LossOptions | undefined {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string' },
      lease: { type: 'string' },
      lanes: { type: 'string' },
      only: { type: 'string', default: IDS.join(',') },
      json: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return undefined
  const only = values.only.split(',')
  const unknown = only.filter((id) => !IDS.includes(id))
  if (unknown.length > 0) throw new RangeError(`--only does not know ${unknown.join(', ')}`)
  return {
    rounds: whole('rounds', values.rounds, 10, 1, 10_000),
    // Shorter ones would measure the machine rather than the lock.
    lease: whole('lease', values.lease, 2_000, 1_000, 60_000),
    lanes: whole('lanes', values.lanes, 4, 1, 32),
    json: values.json,
    only: new Set(only),
  }
}
