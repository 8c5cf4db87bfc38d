// npm run bench:capacity: what a team can plan with, measured, and docs/evidence/performance.md filled in from it.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { chosen, optionsOrExit } from '../../test/kit/cli'
import { fillRegions } from '../../test/kit/docs/regions'
import { liveLine } from '../../test/kit/terminal/live-line'
import { withCoresAwake } from '../driver/awake-cores'
import { describeMachine, versions } from '../driver/machine'
import { Places } from '../driver/places'
import { buildPackage, nodeWorker } from '../driver/programs'
import { resultText } from '../results'
import { LOCK } from '../subjects/catalogue'
import { type CapacityResults, CONTENTS } from './page'
import { PARTS, type Part } from './parts'

const RESULTS = join(__dirname, '../results/capacity.json')
const PAGE = join(__dirname, '../../docs/evidence/performance.md')

const USAGE = `usage: npm run bench:capacity -- [--part NAME]... [--keep-awake]
       npm run bench:capacity -- --report

Measures what a team can plan with: builds the package, starts a Redis server of its own, writes the figures to
bench/results/capacity.json and into docs/evidence/performance.md. All of it takes some five minutes.

  --part NAME  only this one, may be given several times; the others keep the figures they have:
               ${PARTS.map(({ name }) => name).join(', ')}
  --keep-awake a process of Linux's idle class on each core, so that no core falls asleep between two commands
  --report     measures nothing: fills the page in anew

Exit code: 0 when everything was measured, 1 when something failed, 2 for bad arguments.`

interface CapacityOptions {
  readonly parts: readonly Part[]
  readonly keepAwake: boolean
}

/** Undefined when help was asked for; throws when the arguments make no sense. */
export function parseOptions(args: string[]): CapacityOptions | undefined {
  const { values } = parseArgs({
    args,
    options: {
      part: { type: 'string', multiple: true },
      'keep-awake': { type: 'boolean', default: false },
      report: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return undefined
  const { part: wanted, 'keep-awake': keepAwake, report } = values
  if (report && (wanted || keepAwake)) throw new TypeError('--report goes with nothing else')
  return { parts: report ? [] : chosen('part', PARTS, wanted), keepAwake }
}

async function capacity({ parts, keepAwake }: CapacityOptions): Promise<void> {
  const kept: CapacityResults = existsSync(RESULTS) ? JSON.parse(readFileSync(RESULTS, 'utf8')) : {}
  const measured = parts.length > 0 ? await withCoresAwake(keepAwake, () => measure(parts)) : {}
  const results = { ...kept, ...measured }
  if (parts.length > 0) writeFileSync(RESULTS, resultText(results))
  for (const content of Object.values(CONTENTS)) console.log(`${content(results)}\n`)
  fillRegions(PAGE, 'bench', (name) => CONTENTS[name]?.(results))
}

async function measure(parts: readonly Part[]): Promise<CapacityResults> {
  const line = liveLine()
  line.show('building')
  buildPackage()
  const command = ['npm run bench:capacity --', ...process.argv.slice(2)].join(' ').replace(/ --$/, '')
  const places = new Places()
  try {
    const [node, single] = [await nodeWorker(), await places.single()]
    const { "the peers' ioredis": _, ...ours } = await versions(single.servers[0]!, [LOCK], undefined)
    const measured: Record<string, object> = {}
    for (const { name, measure } of parts) {
      const machine = describeMachine()
      line.show(name)
      const rows = await measure({ single, node })
      measured[name] = { command, date: new Date().toISOString(), machine, versions: ours, rows }
    }
    return measured
  } finally {
    await places.close()
    line.clear()
  }
}

if (require.main === module)
  capacity(optionsOrExit(parseOptions, USAGE)).then(
    () => process.exit(0),
    (error: Error) => {
      console.error(`The run failed: ${error.message}`)
      process.exit(1)
    },
  )
