// npm run bench:objects: every object but the plain lock beside its peers, and docs/evidence/performance.md filled in from it.

import { join } from 'node:path'
import { optionsOrExit } from '../../test/kit/cli'
import { fillRegions } from '../../test/kit/docs/regions'
import { liveLine } from '../../test/kit/terminal/live-line'
import { withCoresAwake } from '../driver/awake-cores'
import { buildPackage, installPeers, javaWorker, nodeWorker, type Workers } from '../driver/programs'
import { measureGroups } from './measure'
import { type ObjectsOptions, parseOptions, USAGE } from './options'
import { contentOf, screen } from './report/page'
import { type ObjectsResults, readResults, writeResults } from './results'

const RESULTS = join(__dirname, '../results/objects.json')
const PAGE = join(__dirname, '../../docs/evidence/performance.md')

async function objects(options: ObjectsOptions): Promise<void> {
  const measured = options.report ? readResults(RESULTS) : await measure(options)
  console.log(screen(measured))
  // A quick run decides nothing, so the page does not have it.
  const keeps = options.json !== undefined || !options.quick
  if (!keeps) return
  const file = options.json ?? RESULTS
  const results = { ...readResults(file), ...measured }
  if (!options.report) writeResults(file, results)
  if (options.json === undefined) fillRegions(PAGE, 'bench', (name) => contentOf(results, name))
}

async function measure(options: ObjectsOptions): Promise<ObjectsResults> {
  const line = liveLine()
  line.show('installing the peers, where they are not')
  installPeers()
  line.show('building')
  buildPackage()
  const java = await javaWorker()
  if ('missing' in java) line.keep(`Without Java: ${java.missing}`)
  const workers: Workers = { node: await nodeWorker(), ...(!('missing' in java) && { java }) }
  const command = ['npm run bench:objects --', ...process.argv.slice(2)].join(' ').replace(/ --$/, '')
  const run = () => measureGroups(options, workers, command, line.show)
  return await withCoresAwake(options.keepAwake, run).finally(line.clear)
}

objects(optionsOrExit(parseOptions, USAGE)).then(
  () => process.exit(0),
  (error: Error) => {
    console.error(`The run failed: ${error.message}`)
    process.exit(1)
  },
)
