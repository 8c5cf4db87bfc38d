import { parseArgs } from 'node:util'
import { SCENARIOS } from './scenarios'
import type { Scenario } from './scenarios/scenario'
import { SUBJECTS, type Subject } from './subjects/catalogue'

export interface BenchOptions {
  readonly scenarios: readonly Scenario[]
  readonly subjects: readonly Subject[]
  readonly quick: boolean
  readonly rounds: number
  /** The length of a measured window. */
  readonly seconds: number
  /** Before each window, for the just-in-time compilers; that of Java takes longer. */
  readonly warmupSeconds: { readonly node: number; readonly java: number }
  /** Where to write all figures. */
  readonly json: string | undefined
  /** The file with the figures of a run from which tables and charts are to be made anew; nothing is measured. */
  readonly report: string | undefined
  /** End with exit code 1 where a target was missed. */
  readonly check: boolean
}

export const USAGE = `usage: npm run bench -- [--quick] [--scenario NAME]... [--subject NAME]... [--rounds N] [--seconds N] [--json FILE] [--check]
       npm run bench -- --report FILE

Measures this lock beside its peers: builds the package, installs the peers, starts a Redis server of its own,
and has every subject do every scenario, in turns, several times over.

  --quick          2 rounds of short windows rather than 5 of long ones: within five minutes
  --scenario NAME  only this one, may be given several times:
                   ${SCENARIOS.map(({ name }) => name).join(', ')}
  --subject NAME   only this one, may be given several times; the limit is always measured, for the ratios:
                   ${SUBJECTS.map(({ name }) => name).join(', ')}
  --rounds N       so many rounds (5)
  --seconds N      the length of each measured window (2)
  --json FILE      all figures, into that file
  --report FILE    measures nothing: tables from such a file, the charts into docs/charts, and the figures into
                   docs/performance.md
  --check          exit code 1 when a target was missed

Exit code: 0 when everything was measured, 1 when something failed, 2 for bad arguments and files of no use.`

/** Undefined when help was asked for; throws when the arguments make no sense. */
export function parseOptions(args: string[]): BenchOptions | undefined {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: 'boolean', default: false },
      scenario: { type: 'string', multiple: true },
      subject: { type: 'string', multiple: true },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      json: { type: 'string' },
      report: { type: 'string' },
      check: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return undefined
  const { quick, json, report, check } = values
  for (const [option, file] of Object.entries({ json, report }))
    if (file === '') throw new TypeError(`--${option} takes the name of a file`)
  const wanted = values.subject && [...values.subject, 'limit']
  return {
    quick,
    scenarios: chosen('scenario', SCENARIOS, values.scenario),
    subjects: chosen('subject', SUBJECTS, wanted),
    rounds: number('rounds', values.rounds, quick ? 2 : 5, { least: 1, most: 1_000, whole: true }),
    seconds: number('seconds', values.seconds, quick ? 0.5 : 2, { least: 0.1, most: 600, whole: false }),
    warmupSeconds: quick ? { node: 0.4, java: 2 } : { node: 2, java: 10 },
    json,
    report,
    check,
  }
}

function chosen<T extends { name: string }>(option: string, all: readonly T[], wanted?: readonly string[]) {
  if (!wanted) return all
  const names = all.map(({ name }) => name)
  for (const name of wanted)
    if (!names.includes(name))
      throw new TypeError(`--${option} takes one of ${names.join(', ')}, got ${JSON.stringify(name)}`)
  return all.filter(({ name }) => wanted.includes(name))
}

function number(
  name: string,
  given: string | undefined,
  otherwise: number,
  { least, most, whole }: { least: number; most: number; whole: boolean },
): number {
  if (given === undefined) return otherwise
  const value = given.trim() === '' ? Number.NaN : Number(given)
  if (value >= least && value <= most && (!whole || Number.isInteger(value))) return value
  const kind = whole ? 'a whole number' : 'a number'
  throw new RangeError(`--${name} takes ${kind} from ${least} to ${most}, got ${JSON.stringify(given)}`)
}
