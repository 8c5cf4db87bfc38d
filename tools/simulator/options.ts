import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { chosen, numberOption, wholeOption } from '../../test/kit/cli'
import type { Scene } from './scene'

export interface SimulatorOptions {
  readonly command: 'search' | 'replay' | 'exhaustive' | 'mutants' | 'page' | 'list' | 'help'
  readonly scenes: readonly Scene[]
  readonly from: number
  readonly isFromGiven: boolean
  /** How many schedules; undefined: until the time is over. */
  readonly seeds: number | undefined
  readonly minutes: number | undefined
  /** Tells the story of a violation with as few choices as possible. */
  readonly shrinks: boolean
  /** Changes of priority in each run, plus one; undefined: delays are drawn instead. */
  readonly depth: number | undefined
  /** Adds what was found to tools/simulator/results.json, for the page. */
  readonly keeps: boolean
  /** How many processes share the work. */
  readonly jobs: number
}

export const USAGE = `usage: npm run simulate -- [--seeds N | --minutes M] [--from K] [--scene NAME] [--pct D] [--jobs J] [--keep]
       npm run simulate -- --seed K --scene NAME [--pct D | --shrink]
       npm run simulate -- --exhaustive [--scene NAME] [--seeds N] [--jobs J] [--keep]
       npm run simulate -- --mutants [--only NAME,…] [--jobs J] [--keep]
       npm run simulate -- --page
       npm run simulate -- --list

Many clients, servers that fail, and a judge, in one process and in virtual time. Each run follows from its seed.
Ends with 0 when nothing was violated.

  --seeds N      how many schedules (1000)
  --minutes M    as many schedules as this time allows
  --from K       the first seed (1)
  --scene NAME   one scene, several with commas, or all: seed after seed takes the next scene (all)
  --seed K       runs one schedule and prints the hash of its trace
  --pct D        connections and processes have priorities, which change D - 1 times in a run: for faults of depth D
  --shrink       leaves choices out of a violation until none can go, and tells what happened
  --exhaustive   small worlds: every order of deliveries, timers and two faults, in --seeds N runs each (2000)
  --mutants      breaks the package on purpose and counts schedules until the judge objects
  --keep         adds what was found to tools/simulator/results.json; without --from it goes on behind the seeds that were kept
  --jobs J       how many processes share the work (one for each core); what is found does not depend on it
  --page         writes what was kept into the table of docs/evidence/reliability.md
  --list         the scenes`

/** Throws TypeError or RangeError when the arguments make no sense. */
export function parseOptions(args: string[], scenes: readonly Scene[]): SimulatorOptions {
  const { values } = parseArgs({
    args,
    options: {
      seeds: { type: 'string' },
      minutes: { type: 'string' },
      from: { type: 'string' },
      scene: { type: 'string' },
      seed: { type: 'string' },
      pct: { type: 'string' },
      shrink: { type: 'boolean', default: false },
      exhaustive: { type: 'boolean', default: false },
      mutants: { type: 'boolean', default: false },
      page: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
      jobs: { type: 'string' },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  const chosen = scenesOf(values.scene, scenes)
  const common = {
    scenes: chosen,
    shrinks: values.shrink,
    keeps: values.keep,
    isFromGiven: values.from !== undefined,
    jobs: jobsOf(values.jobs),
    depth: values.pct === undefined ? undefined : whole('pct', values.pct, 1),
  }
  const alone = (['help', 'list', 'mutants', 'exhaustive', 'page'] as const).filter((name) => values[name])
  if (alone.length > 1) throw new TypeError(`--${alone[0]} and --${alone[1]} exclude each other`)
  for (const [one, other] of EXCLUSIVE)
    if (values[one] && values[other]) throw new TypeError(`--${one} and --${other} exclude each other`)
  if (values.seed !== undefined) {
    if (chosen.length !== 1) throw new TypeError('--seed needs --scene with the name of one scene')
    return { ...common, command: 'replay', from: whole('seed', values.seed, 0), seeds: 1, minutes: undefined }
  }
  const minutes = numberOption('minutes', values.minutes, MINUTES)
  const seeds =
    minutes === undefined
      ? whole('seeds', values.seeds ?? (values.exhaustive ? '2000' : '1000'), 1)
      : undefined
  return {
    ...common,
    command: alone[0] ?? 'search',
    from: whole('from', values.from ?? '1', 0),
    seeds,
    minutes,
  }
}

export function jobsOf(given: string | undefined): number {
  return given === undefined ? availableParallelism() : whole('jobs', given, 1)
}

const MINUTES = { least: Number.MIN_VALUE, most: 10_000_000, otherwise: undefined }

const EXCLUSIVE = [
  ['seeds', 'minutes'],
  ['seeds', 'seed'],
  ['minutes', 'seed'],
  ['from', 'seed'],
  ['seed', 'exhaustive'],
  ['pct', 'exhaustive'],
  ['pct', 'mutants'],
  ['pct', 'shrink'],
  ['minutes', 'exhaustive'],
  ['seed', 'mutants'],
] as const

const scenesOf = (given: string | undefined, scenes: readonly Scene[]) =>
  chosen('scene', scenes, given === undefined || given === 'all' ? undefined : given.split(','))

const whole = (name: string, given: string, least: number): number =>
  wholeOption(name, given, least, least, Number.MAX_SAFE_INTEGER)
