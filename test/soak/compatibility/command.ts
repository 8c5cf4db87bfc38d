// node --import tsx test/soak/compatibility/command.ts: the installed command `rlock`, run by each Node that it is said to work with.

import { parseArgs } from 'node:util'
import { chosen, optionsOrExit } from '../../kit/cli'
import { startStandalone } from '../../kit/servers/index'
import { InstalledPackage } from '../../package/installed-package'
import { COMMAND_CHECKS, runCommand } from './command/run-command'
import { nodeBinary, systemServer } from './fetch/binaries'
import { yesOrNo } from './report/table'
import { main, runAll, today } from './run/mocha-run'
import { NODES, type NodeSubject } from './subjects'

const USAGE = `usage: node --import tsx test/soak/compatibility/command.ts [--only ${NODES.map(({ name }) => name).join(',')}]

Packs the command, installs it into an empty project, and runs it there with each Node against a server. Writes what
passed to docs/operations/compatibility.md.`

function parseOptions(args: string[]): readonly NodeSubject[] | undefined {
  const { values } = parseArgs({
    args,
    options: { only: { type: 'string' }, help: { type: 'boolean', short: 'h', default: false } },
  })
  return values.help ? undefined : chosen('only', NODES, values.only?.split(','))
}

const subjects = optionsOrExit(parseOptions, USAGE)

async function runCommands(): Promise<number> {
  const installed = await InstalledPackage.install(['cli', 'redisson-config'])
  try {
    return await runAll<NodeSubject>({
      kind: 'command',
      all: NODES,
      subjects,
      rows: COMMAND_CHECKS,
      beside: 'Redis',
      cell: yesOrNo,
      isWhole: true,
      runOne: (subject) => runOne(subject, installed.project),
    })
  } finally {
    installed.remove()
  }
}

async function runOne(subject: NodeSubject, project: string) {
  const { name, title } = subject
  const { path, version } = await nodeBinary(subject)
  const started = performance.now()
  const server = await startStandalone({ config: ['appendonly yes'] })
  try {
    const outcome = await runCommand({ node: path, project, url: server.url })
    const seconds = Math.round((performance.now() - started) / 1_000)
    const beside = (await systemServer()).version
    const rest = { beside, date: today(), seconds, pendingReasons: [], repeated: [] }
    return { name, title, version, from: `npm node@${name}`, ...rest, ...outcome }
  } finally {
    await server.stop()
  }
}

main(runCommands)
