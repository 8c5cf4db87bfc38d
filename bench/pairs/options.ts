import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { chosen, numberOption, wholeOption } from '../../test/kit/cli'
import { removeWithThisProcess } from '../../test/kit/servers/left-behind'
import { PAIR_SCENARIOS, type PairScenario } from './scenarios'

export const USAGE = `usage: npm run bench:pairs -- BEFORE [--scenario NAME]... [--rounds N] [--seconds N]

Builds this tree, and measures it beside BEFORE: a commit, which is checked out and built in a temporary folder, or the folder
of a clone that is built. In each round both do each scenario, one straight after the other, and the order changes from
round to round. The table has the ratios, after to before, as medians over the rounds with the least and the most.

  --scenario NAME  only this one, may be given several times:
                   ${PAIR_SCENARIOS.map(({ name }) => name).join(', ')}
  --rounds N       so many rounds (7)
  --seconds N      the length of each window (1.5)

Exit code: 0 when everything was measured, 1 when something failed, 2 for bad arguments.`

export interface PairOptions {
  readonly before: string
  readonly scenarios: readonly PairScenario[]
  readonly rounds: number
  readonly seconds: number
}

/** Undefined when help was asked for; throws when the arguments make no sense. */
export function parseOptions(args: string[]): PairOptions | undefined {
  const given = parsePair(args, PAIR_SCENARIOS, 'seconds')
  return (
    given && {
      ...given,
      rounds: wholeOption('rounds', given.values.rounds, 7, 1, 1_000),
      seconds: numberOption('seconds', given.values.seconds, { least: 0.1, most: 60, otherwise: 1.5 }),
    }
  )
}

/** What every program has that measures this tree beside BEFORE, and `more` options. Undefined when help was asked for. */
export function parsePair<Scenario extends { name: string }>(
  args: string[],
  all: readonly Scenario[],
  ...more: 'seconds'[]
) {
  const string = { type: 'string' } as const
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      scenario: { type: 'string', multiple: true },
      rounds: string,
      help: { type: 'boolean', short: 'h', default: false },
      ...(Object.fromEntries(more.map((name) => [name, string])) as Record<'seconds', typeof string>),
    },
  })
  if (values.help) return undefined
  const [before, ...others] = positionals
  if (before === undefined || others.length > 0) throw new TypeError('name one commit or folder')
  return { before, scenarios: chosen('scenario', all, values.scenario), values }
}

export const ROOT = join(__dirname, '../..')

/** The folder of a build of that commit; or the folder itself. */
export function builtFolder(before: string, onProgress: (text: string) => void): string {
  if (existsSync(before)) return resolve(before)
  const folder = join(temporary(), 'clone')
  const run = (program: string, args: string[], cwd: string) =>
    execFileSync(program, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
  onProgress(`building ${before}`)
  run('git', ['clone', '--quiet', '--shared', '--no-checkout', ROOT, folder], ROOT)
  run('git', ['checkout', '--quiet', '--detach', before], folder)
  run('npm', ['ci', '--no-audit', '--no-fund'], folder)
  run('npm', ['run', 'build'], folder)
  return folder
}

/** A folder that this process removes at its end. */
export function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'rlock-pairs-'))
  removeWithThisProcess(folder)
  return folder
}
