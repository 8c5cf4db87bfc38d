import { parseArgs } from 'node:util'
import { chosen, numberOption } from '../../test/kit/cli'
import { GROUPS } from './groups'
import type { Group } from './groups/group'

export interface ObjectsOptions {
  readonly groups: readonly Group[]
  readonly quick: boolean
  /** Undefined: as many as each group has by itself. */
  readonly rounds: number | undefined
  /** Whether processes of the idle class keep the cores from falling asleep. */
  readonly keepAwake: boolean
  /** Where the figures are kept; undefined: beside the other results, and the page is filled in from them. */
  readonly json: string | undefined
  /** Measures nothing, fills the page in anew. */
  readonly report: boolean
}

export const USAGE = `usage: npm run bench:objects -- [--quick] [--only NAME]... [--rounds N] [--keep-awake] [--json FILE]
       npm run bench:objects -- --report

Measures fair, fenced, non-reentrant, multi, red and token locks, semaphores and latches beside Java, redis-semaphore and
baselines: builds the package, starts Redis servers of its own, writes the figures to bench/results/objects.json and into
docs/evidence/performance.md. All of it may take a quarter of an hour.

  --quick      one round of short windows, a few minutes; neither file is written
  --only NAME  only this group, may be given several times; the others keep the figures they have:
               ${GROUPS.map(({ name }) => name).join(', ')}
  --rounds N   so many rounds of each group
  --keep-awake a process of Linux's idle class on each core, so that no core falls asleep between two commands
  --json FILE  the figures into that file instead, also of a quick run, and the page stays as it is
  --report     measures nothing: fills the page in anew

Exit code: 0 when everything was measured, 1 when something failed, 2 for bad arguments.`

/** Undefined when help was asked for; throws when the arguments make no sense. */
export function parseOptions(args: string[]): ObjectsOptions | undefined {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true },
      rounds: { type: 'string' },
      'keep-awake': { type: 'boolean', default: false },
      json: { type: 'string' },
      report: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return undefined
  const { quick, only, json, report, 'keep-awake': keepAwake } = values
  if (json === '') throw new TypeError('--json takes the name of a file')
  if (report && (quick || only || keepAwake || json !== undefined || values.rounds !== undefined))
    throw new TypeError('--report goes with nothing else')
  const range = { least: 1, most: 1_000, whole: true, otherwise: quick ? 1 : undefined }
  const rounds = numberOption<number | undefined>('rounds', values.rounds, range)
  return { groups: chosen('only', GROUPS, only), quick, rounds, keepAwake, json, report }
}
