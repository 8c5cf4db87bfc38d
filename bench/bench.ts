// npm run bench: this lock beside its peers, every one measured in turns in the same run.

import { writeFileSync } from 'node:fs'
import { liveLine } from '../test/endurance/live-line'
import { optionsOrExit } from '../test/support/command-line'
import { runBench } from './driver/bench-run'
import { buildPackage, installPeers, javaWorker, nodeWorker, type Workers } from './driver/programs'
import { type BenchOptions, parseOptions, USAGE } from './options'
import { tables } from './report/tables'
import { judge } from './report/targets'

/** Resolves with the exit code. */
async function bench(options: BenchOptions): Promise<number> {
  const line = liveLine()
  line.show('building')
  installPeers()
  buildPackage()
  const java = options.subjects.some(({ runsOn }) => runsOn === 'java') ? await javaWorker() : undefined
  const withJava = java !== undefined && !('missing' in java)
  if (java && !withJava) console.log(`Without Java: ${java.missing}`)
  const workers: Workers = { node: await nodeWorker(), ...(withJava && { java }) }
  const subjects = options.subjects.filter(({ runsOn }) => workers[runsOn])
  const command = ['npm run bench --', ...process.argv.slice(2)].join(' ')
  const run = await runBench({ ...options, subjects }, workers, command, line.show).finally(line.clear)
  console.log(tables(run))
  const { machine } = run
  console.log(`\n${machine.cpu}, ${machine.cores} cores, load before ${machine.load}`)
  console.log(
    Object.entries(run.versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(', '),
  )
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(run, null, 2)}\n`)
  return options.check && judge(run).some(({ met }) => met === false) ? 1 : 0
}

bench(optionsOrExit(parseOptions, USAGE)).then(
  (code) => process.exit(code),
  (error: Error) => {
    console.error(`The run failed: ${error.message}`)
    process.exit(1)
  },
)
