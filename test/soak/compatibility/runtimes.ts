// node --import tsx test/soak/compatibility/runtimes.ts: a short program with the installed package on runtimes other than Node.

import { parseArgs } from 'node:util'
import { chosen, optionsOrExit } from '../../kit/cli'
import { startStandalone } from '../../kit/servers/index'
import { InstalledPackage } from '../../package/installed-package'
import { npmBinary, output, systemServer } from './fetch/binaries'
import { yesOrNo } from './report/table'
import { main, runAll, today } from './run/mocha-run'
import { CHECKS, runProgram } from './runtimes/run-program'
import { RUNTIMES, type RuntimeSubject, runtimeVersion } from './subjects'

const USAGE = `usage: node --import tsx test/soak/compatibility/runtimes.ts [--only ${RUNTIMES.map(({ name }) => name).join(',')}]

Packs the package, installs it into a project, and runs a program there that locks, waits, loses a lock and shuts
down. Writes what passed to docs/operations/compatibility.md.`

function parseOptions(args: string[]): readonly RuntimeSubject[] | undefined {
  const { values } = parseArgs({
    args,
    options: { only: { type: 'string' }, help: { type: 'boolean', short: 'h', default: false } },
  })
  return values.help ? undefined : chosen('only', RUNTIMES, values.only?.split(','))
}

const subjects = optionsOrExit(parseOptions, USAGE)

async function runRuntimes(): Promise<number> {
  const installed = await InstalledPackage.install()
  try {
    return await runAll<RuntimeSubject>({
      kind: 'runtimes',
      all: RUNTIMES,
      subjects,
      rows: CHECKS,
      beside: 'Redis',
      cell: yesOrNo,
      isWhole: true,
      runOne: (subject) => runOne(subject, installed.project),
    })
  } finally {
    installed.remove()
  }
}

async function runOne({ name, title, file, args }: RuntimeSubject, project: string) {
  const command = await npmBinary(name, file)
  const version = runtimeVersion(await output(command, ['--version']))
  const started = performance.now()
  const server = await startStandalone()
  try {
    const outcome = await runProgram({ command, args, project, port: server.port })
    const seconds = Math.round((performance.now() - started) / 1_000)
    const beside = (await systemServer()).version
    const rest = { beside, date: today(), seconds, pendingReasons: [], repeated: [] }
    return { name, title, version, from: `npm ${name}`, ...rest, ...outcome }
  } finally {
    await server.stop()
  }
}

main(runRuntimes)
