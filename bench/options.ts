import { parseArgs } from 'node:util'
import { chosen, numberOption, wholeOption } from '../test/kit/cli'
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
  /** Whether rlock's scripts take the fast path (src/redis/send). */
  readonly fastPath: boolean
  /** Whether processes of the idle class keep the cores from falling asleep. */
  readonly keepAwake: boolean
  /** Where to write all figures. */
  readonly json: string | undefined
  /** The file with the figures of a run from which tables and charts are to be made anew; nothing is measured. */
  readonly report: string | undefined
  /** End with exit code 1 where a target was missed. */
  readonly check: boolean
}

export const USAGE = `usage: npm run bench -- [--quick] [--objects] [--scenario NAME]... [--subject NAME]... [--rounds N] [--seconds N] [--no-fast-path] [--keep-awake] [--json FILE] [--check]
       npm run bench -- --report FILE

Measures this lock beside its peers: builds the package, installs the peers, starts a Redis server of its own,
and has every subject do every scenario, in turns, several times over.

  --quick          2 rounds of short windows rather than 5 of long ones: within five minutes
  --objects        the other objects in place of the plain lock
  --scenario NAME  only this one, may be given several times:
                   ${SCENARIOS.map(({ name }) => name).join(', ')}
  --subject NAME   only this one, may be given several times; the limit is always measured, for the ratios
                   (objects have arms of their own):
                   ${SUBJECTS.map(({ name }) => name).join(', ')}
  --rounds N       so many rounds (5)
  --seconds N      the length of each measured window (2)
  --no-fast-path   rlock leaves the making and writing of commands to ioredis: what the fast path is worth
  --keep-awake     a process of Linux's idle class on each core, so that no core falls asleep between two commands: for a
                   machine on which a round trip takes twice as long in one minute as in the next
  --json FILE      all figures, into that file
  --report FILE    measures nothing: tables from such a file, the chart into docs/evidence/charts, and the figures into
                   docs/evidence/performance.md
  --check          exit code 1 when a target was missed

Exit code: 0 when everything was measured, 1 when something failed, 2 for bad arguments and files of no use.`

/** Undefined when help was asked for; throws when the arguments make no sense. */
export function parseOptions(args: string[]): BenchOptions | undefined {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: 'boolean', default: false },
      objects: { type: 'boolean', default: false },
      scenario: { type: 'string', multiple: true },
      subject: { type: 'string', multiple: true },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      'no-fast-path': { type: 'boolean', default: false },
      'keep-awake': { type: 'boolean', default: false },
      json: { type: 'string' },
      report: { type: 'string' },
      check: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return undefined
  const { quick, objects, json, report, check } = values
  for (const [option, file] of Object.entries({ json, report }))
    if (file === '') throw new TypeError(`--${option} takes the name of a file`)
  const wanted = values.subject && [...values.subject, 'limit']
  return {
    quick,
    scenarios: values.scenario
      ? chosen('scenario', SCENARIOS, values.scenario)
      : SCENARIOS.filter(({ isOfObjects = false }) => isOfObjects === objects),
    subjects: chosen('subject', SUBJECTS, wanted),
    rounds: wholeOption('rounds', values.rounds, quick ? 2 : 5, 1, 1_000),
    seconds: numberOption('seconds', values.seconds, { least: 0.1, most: 600, otherwise: quick ? 0.5 : 2 }),
    warmupSeconds: quick ? { node: 0.4, java: 2 } : { node: 2, java: 10 },
    fastPath: !values['no-fast-path'],
    keepAwake: values['keep-awake'],
    json,
    report,
    check,
  }
}
