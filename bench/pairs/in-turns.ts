// npm run bench:turns: this tree beside an older build of it, in one process and in turns of some ms.
import { cpSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { optionsOrExit, wholeOption } from '../../test/kit/cli'
import { liveLine } from '../../test/kit/terminal/live-line'
import { buildPackage } from '../driver/programs'
import { table } from '../report/markdown'
import { builtFolder, parsePair, ROOT, temporary } from './options'
import { TURN_SCENARIOS } from './turn-scenarios'
import { shownRatio, type TurnScenario, Turns } from './turns'

const USAGE = `usage: npm run bench:turns -- BEFORE [--scenario NAME]... [--rounds N]

Builds this tree, and loads it beside BEFORE in one process, each twice: a commit, which is checked out and built in a temporary
folder, or the folder of a clone that is built. They take turns of some ms, so that load of the machine meets both alike. This finds
differences of some percent that windows of seconds (npm run bench:pairs) cannot tell from noise. It measures one process whose code
is compiled: no several processes, no first cycles, no cluster. The ratios are after to before, medians with 95 % intervals.

  --scenario NAME  only this one, may be given several times:
                   ${TURN_SCENARIOS.map(({ name }) => name).join(', ')}
  --rounds N       so many rounds, in each of which each build takes 40 turns (30)

Exit code: 0 when everything was measured, 1 when something failed, 2 for bad arguments.`

interface TurnOptions {
  readonly before: string
  readonly scenarios: readonly TurnScenario[]
  readonly rounds: number
}

function parseOptions(args: string[]): TurnOptions | undefined {
  const given = parsePair(args, TURN_SCENARIOS)
  return given && { ...given, rounds: wholeOption('rounds', given.values.rounds, 30, 5, 10_000) }
}

const HEAD = [
  'scenario',
  'sections',
  'client CPU',
  'CPU µs a cycle',
  'this build to itself',
  'that one to itself',
]

async function inTurns({ before, scenarios, rounds }: TurnOptions): Promise<void> {
  const line = liveLine()
  const folder = builtFolder(before, line.show)
  line.show('building')
  buildPackage()
  const turns = await Turns.open((arm) => copyOf(arm.startsWith('other') ? folder : ROOT))
  try {
    const rows: string[][] = []
    for (const scenario of scenarios) {
      const { cpuUs, cpu, sections, noise } = await turns.measure(scenario, rounds, (round) =>
        line.show(`${scenario.name}: round ${round} of ${rounds}`),
      )
      line.clear()
      rows.push([
        scenario.name,
        shownRatio(sections),
        shownRatio(cpu),
        cpuUs.toFixed(0),
        ...noise.map(shownRatio),
      ])
      // At once, so that a run that is cut short has told what it measured.
      console.error(rows.at(-1)!.join('  '))
    }
    console.log(table([HEAD, ...rows]))
  } finally {
    line.clear()
    await turns.stop()
  }
}

/** The package as it is built in that folder. */
function copyOf(folder: string): string {
  const copy = temporary()
  for (const each of ['dist', 'package.json'])
    cpSync(join(folder, each), join(copy, each), { recursive: true })
  symlinkSync(join(folder, 'node_modules'), join(copy, 'node_modules'), 'dir')
  return copy
}

inTurns(optionsOrExit(parseOptions, USAGE)).then(
  () => process.exit(0),
  (error: Error) => {
    console.error(`The run failed: ${error.message}`)
    process.exit(1)
  },
)
