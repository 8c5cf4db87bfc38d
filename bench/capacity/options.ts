import { parseArgs } from 'node:util'
import { chosen } from '../../test/kit/cli'
import { PARTS, type PartToMeasure } from './parts'

export interface CapacityOptions {
  readonly parts: readonly PartToMeasure[]
  /** Whether processes of the idle class keep the cores from falling asleep. */
  readonly keepAwake: boolean
  /** Where the figures are kept; undefined: beside the other results, and the page is filled in from them. */
  readonly json: string | undefined
}

export const USAGE = `usage: npm run bench:capacity -- [--part NAME]... [--keep-awake] [--json FILE]
       npm run bench:capacity -- --report

Measures what a team can plan with: builds the package, starts a Redis server of its own, writes the figures to
bench/results/capacity.json and into docs/evidence/performance.md. All of it takes some five minutes.

  --part NAME  only this one, may be given several times; the others keep the figures they have:
               ${PARTS.map(({ name }) => name).join(', ')}
  --keep-awake a process of Linux's idle class on each core, so that no core falls asleep between two commands
  --json FILE  the figures into that file instead, and the page stays as it is
  --report     measures nothing: fills the page in anew

Exit code: 0 when everything was measured, 1 when something failed, 2 for bad arguments.`

/** Undefined when help was asked for; throws when the arguments make no sense. */
export function parseOptions(args: string[]): CapacityOptions | undefined {
  const { values } = parseArgs({
    args,
    options: {
      part: { type: 'string', multiple: true },
      'keep-awake': { type: 'boolean', default: false },
      json: { type: 'string' },
      report: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return undefined
  const { part: wanted, 'keep-awake': keepAwake, json, report } = values
  if (json === '') throw new TypeError('--json takes the name of a file')
  if (report && (wanted || keepAwake || json !== undefined))
    throw new TypeError('--report goes with nothing else')
  return { parts: report ? [] : chosen('part', PARTS, wanted), keepAwake, json }
}
