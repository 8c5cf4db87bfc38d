// npm run bench:capacity: what a team can plan with, measured, and docs/evidence/performance.md filled in from it.

import { join } from 'node:path'
import { optionsOrExit } from '../../test/kit/cli'
import { fillRegions } from '../../test/kit/docs/regions'
import { liveLine } from '../../test/kit/terminal/live-line'
import { withCoresAwake } from '../driver/awake-cores'
import { buildPackage, nodeWorker } from '../driver/programs'
import { measureParts } from './measure'
import { type CapacityOptions, parseOptions, USAGE } from './options'
import { contentOf } from './report/page'
import { tables } from './report/tables'
import { type CapacityResults, readResults, writeResults } from './results'

const RESULTS = join(__dirname, '../results/capacity.json')
const PAGE = join(__dirname, '../../docs/evidence/performance.md')

async function capacity(options: CapacityOptions): Promise<void> {
  const file = options.json ?? RESULTS
  const measured = options.parts.length > 0 ? await measure(options) : {}
  const results = { ...readResults(file), ...measured }
  if (options.parts.length > 0) writeResults(file, results)
  console.log(tables(options.parts.length > 0 ? measured : results))
  if (options.json === undefined) fillRegions(PAGE, 'bench', (name) => contentOf(results, name))
}

async function measure({ parts, keepAwake }: CapacityOptions): Promise<CapacityResults> {
  const line = liveLine()
  line.show('building')
  buildPackage()
  const command = ['npm run bench:capacity --', ...process.argv.slice(2)].join(' ').replace(/ --$/, '')
  const worker = await nodeWorker()
  const run = () => measureParts(parts, worker, command, line.show)
  return await withCoresAwake(keepAwake, run).finally(line.clear)
}

capacity(optionsOrExit(parseOptions, USAGE)).then(
  () => process.exit(0),
  (error: Error) => {
    console.error(`The run failed: ${error.message}`)
    process.exit(1)
  },
)
