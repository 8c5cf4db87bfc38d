// npm run bench:pairs: this tree beside an older build of it, each scenario in pairs of windows, one straight after the other.

import { join } from 'node:path'
import { optionsOrExit } from '../../test/kit/cli'
import { liveLine } from '../../test/kit/terminal/live-line'
import { Places } from '../driver/places'
import { buildPackage, nodeWorker } from '../driver/programs'
import { spreadOf } from '../driver/statistics'
import type { Command } from '../driver/worker-process'
import { shown, table } from '../report/markdown'
import { LIMIT } from '../subjects/catalogue'
import { builtFolder, type PairOptions, parseOptions, ROOT, temporary, USAGE } from './options'
import type { PairMeasuring, PairPlaces, PairScenario, Window } from './scenarios'

/** For each process: several share the cores, and each has to compile the code. */
const WARM_UP_MS = 700

interface Round {
  readonly before: Window
  readonly after: Window
  readonly noOp?: Window
}

async function pairs({ before, scenarios, rounds, seconds }: PairOptions): Promise<void> {
  const line = liveLine()
  const folder = builtFolder(before, line.show)
  line.show('building')
  buildPackage()
  const workers = {
    before: await nodeWorker(folder, join(temporary(), 'worker')),
    after: await nodeWorker(ROOT, join(temporary(), 'worker')),
  }
  const own = new Places()
  try {
    const { cluster, several } = own
    const places: PairPlaces = { single: await own.single(), cluster, several }
    const rows: string[][] = []
    for (const scenario of scenarios) {
      const found: Round[] = []
      for (let round = 0; round < rounds; round++) {
        line.show(`${scenario.name}: round ${round + 1} of ${rounds}`)
        found.push(await measureRound(scenario, places, workers, seconds * 1_000, round % 2 === 1))
      }
      line.clear()
      // At once, so that a run that is cut short has told what it measured.
      rows.push(rowOf(scenario.name, found))
      console.error(rows.at(-1)!.join('  '))
    }
    console.log(table([HEAD, ...rows]))
  } finally {
    line.clear()
    await own.close()
  }
}

async function measureRound(
  scenario: PairScenario,
  places: PairPlaces,
  workers: Readonly<Record<'before' | 'after', Command>>,
  measureMs: number,
  afterFirst: boolean,
): Promise<Round> {
  const measure = (command: Command, subject = scenario.subject) => {
    const measuring: PairMeasuring = {
      command: () => command,
      warmupMs: (_, processes = 1) => WARM_UP_MS * processes,
      measureMs,
    }
    return scenario.measure(subject, places, measuring)
  }
  const early = afterFirst ? await measure(workers.after) : undefined
  const before = await measure(workers.before)
  const after = early ?? (await measure(workers.after))
  return { before, after, ...(scenario.besideNoOp && { noOp: await measure(workers.after, LIMIT) }) }
}

const HEAD = [
  'scenario',
  'sections',
  'client CPU',
  'commands',
  'sections a second',
  'of no-ops',
  'CPU of no-ops',
]

function rowOf(name: string, rounds: readonly Round[]): string[] {
  const spread = (value: (round: Round) => number | undefined, digits = 2) => {
    const values = rounds.map(value).filter((each) => each !== undefined)
    return values.length === 0 ? '' : shown(spreadOf(values)!, digits)
  }
  const ratio = (figure: keyof Window, over: 'before' | 'noOp') =>
    spread(({ after, [over]: other }) => other?.[figure] && after[figure]! / other[figure])
  return [
    name,
    ratio('sectionsPerSecond', 'before'),
    ratio('clientUsPerSection', 'before'),
    ratio('clientCommandsPerSection', 'before'),
    spread(({ after }) => after.sectionsPerSecond, 0),
    ratio('sectionsPerSecond', 'noOp'),
    ratio('clientUsPerSection', 'noOp'),
  ]
}

pairs(optionsOrExit(parseOptions, USAGE)).then(
  () => process.exit(0),
  (error: Error) => {
    console.error(`The run failed: ${error.message}`)
    process.exit(1)
  },
)
