import { parseArgs } from 'node:util'
import { numberOption, oneOf, wholeOption } from '../../kit/cli'
import { FAULTS, type FaultKind, type TopologyName } from './plan/catalogue'
import { OBJECTS, type ObjectKind } from './plan/objects'
import { MUTANTS, type MutantName } from './worker/mutants'

export interface ChaosOptions {
  readonly minutes: number
  readonly seed: number
  /** None: that of the mutant. */
  readonly topologies: readonly TopologyName[]
  readonly java: boolean
  readonly kinds: readonly FaultKind[]
  readonly objects: readonly ObjectKind[]
  readonly workers: number
  readonly mutants: readonly MutantName[]
  readonly printSchedule: boolean
  readonly json: string | undefined
  readonly markdown: string | undefined
  readonly tableOf: readonly string[] | undefined
}

const TOPOLOGIES: readonly TopologyName[] = ['standalone', 'sentinel', 'cluster']
const faults = Object.keys(FAULTS) as FaultKind[]
const objects = Object.keys(OBJECTS) as ObjectKind[]
const names = Object.keys(MUTANTS) as MutantName[]

export const USAGE = `usage: npm run chaos -- [--minutes M] [--seed S] [--topology NAME] [--no-java] [--json FILE] [--markdown FILE]
       npm run chaos -- --mutants
       npm run chaos -- --table FILE... [--markdown FILE]

Node and Java processes take the same locks while a schedule of faults breaks processes, connections and
servers; the judge of the simulator reads what they recorded: whether two were ever inside, or a waiter slept on.
Ends with 0 when nothing was violated.

  --minutes M      how long, in all (3); shared out among the topologies
  --seed S         a whole number; the same seed breaks the same things in the same order (1)
  --topology NAME  ${TOPOLOGIES.join(', ')}; may be repeated (all of them)
  --workers N      Node processes (3)
  --no-java        Node processes only
  --objects LIST   what takes part, with commas: ${objects.join(', ')};
                   or all, which is all but locks (locks)
  --fault NAME     draws only this one; may be repeated (all that the topology knows)
  --json FILE      writes the figures there
  --markdown FILE  writes all that is to be said of the runs there, tables and violations, in Markdown
  --schedule       prints what would be broken and ends
  --mutant NAME    runs a lock broken on purpose until the judge objects, two minutes at most:
                   ${names.join(', ')}
  --mutants        all of them, one after the other; ends with 0 when each was caught
  --table          says the same of earlier runs, given as the files that --json wrote, all together`

/** Undefined when help was asked for; throws when the arguments make no sense. */
export function parseOptions(args: string[]): ChaosOptions | undefined {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      minutes: { type: 'string' },
      seed: { type: 'string' },
      topology: { type: 'string', multiple: true },
      workers: { type: 'string' },
      'no-java': { type: 'boolean', default: false },
      objects: { type: 'string' },
      fault: { type: 'string', multiple: true },
      json: { type: 'string' },
      markdown: { type: 'string' },
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
  const mutants = values.mutants ? names : (values.mutant ?? []).map((name) => oneOf('mutant', name, names))
  const otherwise = mutants.length > 0 ? 2 : 3
  const minutes = numberOption('minutes', values.minutes, { least: 0.01, most: 1_440, otherwise })
  const seed = wholeOption('seed', values.seed, 1, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)
  const workers = wholeOption('workers', values.workers, 3, 1, 16)
  const asked = values.topology?.map((name) => oneOf('topology', name, TOPOLOGIES))
  return {
    ...{ minutes, seed, workers, mutants },
    topologies: asked ?? (mutants.length > 0 ? [] : TOPOLOGIES),
    kinds: (values.fault ?? []).map((name) => oneOf('fault', name, faults)),
    objects: objectsOf(values.objects),
    java: !values['no-java'],
    printSchedule: values.schedule,
    json: values.json,
    markdown: values.markdown,
    tableOf: values.table ? positionals : undefined,
  }
}

/** The plain and the read-write locks have runs of their own, so that those stay comparable. */
function objectsOf(given = 'locks'): readonly ObjectKind[] {
  if (given === 'all') return objects.filter((each) => each !== 'locks')
  return given.split(',').map((name) => oneOf('objects', name, objects))
}
