import { parseArgs } from 'node:util'
import type { TopologyName } from './plan/catalogue'
import { MUTANTS, type MutantName } from './worker/mutants'

export interface ChaosOptions {
  readonly minutes: number
  readonly seed: number
  readonly topologies: readonly TopologyName[]
  readonly java: boolean
  readonly workers: number
  readonly mutants: readonly MutantName[]
  readonly printSchedule: boolean
  readonly json: string | undefined
  readonly tableOf: readonly string[] | undefined
}

const TOPOLOGIES: readonly TopologyName[] = ['standalone', 'sentinel', 'cluster']
const names = Object.keys(MUTANTS) as MutantName[]

export const USAGE = `usage: npm run chaos -- [--minutes M] [--seed S] [--topology NAME] [--no-java] [--json FILE]
       npm run chaos -- --mutants
       npm run chaos -- --table FILE...

Node and Java processes take the same locks while a schedule of faults breaks processes, connections and
servers; then the evidence is asked whether two were ever inside, an update was lost, or a waiter slept on.
Ends with 0 when nothing was violated.

  --minutes M      how long, in all (3); shared out among the topologies
  --seed S         a whole number; the same seed breaks the same things in the same order (1)
  --topology NAME  ${TOPOLOGIES.join(', ')}; may be repeated (all of them)
  --workers N      Node processes (3)
  --no-java        Node processes only
  --json FILE      writes the figures there
  --schedule       prints what would be broken and ends
  --mutant NAME    runs a lock broken on purpose until the judge objects, two minutes at most:
                   ${names.join(', ')}
  --mutants        all of them, one after the other; ends with 0 when each was caught
  --table          prints the figures of earlier runs, given as files, as one table in Markdown`

/** Undefined when help was asked for; throws when the arguments make no sense. */
export function parseOptions(args: string[]): ChaosOptions | undefined {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      minutes: { type: 'string' },
      seed: { type: 'string', default: '1' },
      topology: { type: 'string', multiple: true },
      workers: { type: 'string', default: '3' },
      'no-java': { type: 'boolean', default: false },
      json: { type: 'string' },
      schedule: { type: 'boolean', default: false },
      mutant: { type: 'string', multiple: true },
      mutants: { type: 'boolean', default: false },
      table: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return undefined
  if (!values.table && positionals.length > 0) throw new TypeError(`what is ${positionals[0]}?`)
  if (values.table && positionals.length === 0) throw new TypeError('--table takes the files of earlier runs')
  const mutants = values.mutants ? names : (values.mutant ?? []).map((name) => oneOf('--mutant', name, names))
  const minutes = Number(values.minutes ?? (mutants.length > 0 ? 2 : 3))
  if (!(minutes > 0 && minutes <= 24 * 60)) throw new RangeError('--minutes takes a number up to 1440')
  const seed = Number(values.seed)
  if (!Number.isSafeInteger(seed)) throw new RangeError('--seed takes a whole number')
  const workers = Number(values.workers)
  if (!(Number.isInteger(workers) && workers >= 1 && workers <= 16))
    throw new RangeError('--workers takes a whole number from 1 to 16')
  const asked = values.topology?.map((name) => oneOf('--topology', name, TOPOLOGIES))
  return {
    ...{ minutes, seed, workers, mutants },
    topologies: asked ?? (mutants.length > 0 ? ['standalone'] : TOPOLOGIES),
    java: !values['no-java'],
    printSchedule: values.schedule,
    json: values.json,
    tableOf: values.table ? positionals : undefined,
  }
}

function oneOf<T extends string>(option: string, name: string, allowed: readonly T[]): T {
  if ((allowed as readonly string[]).includes(name)) return name as T
  throw new TypeError(`${option} takes one of ${allowed.join(', ')}, not ${name}`)
}
