// node --import tsx test/soak/compatibility/compatibility.ts KIND: what the package is said to work with.

import { parseArgs } from 'node:util'
import { chosen, oneOf, optionsOrExit, wholeOption } from '../../kit/cli'
import { type RedisNode, startStandalone } from '../../kit/servers/index'
import { InstalledPackage } from '../../package/installed-package'
import { type Found, nodeBinary, runtimeBinary, serverBinary, systemServer } from './binaries'
import { runCommand } from './command'
import { KINDS, type Kind, type Outcome, type Result } from './result'
import { runProgram } from './runtimes'
import { NODES, PARTS, type Part, RUNTIMES, SERVERS, type Subject } from './subjects'
import { runSuite } from './suite'
import { PAGE, report, write } from './table'

/** One column of a table. */
interface Column extends Subject {
  /** The program, fetched where it is not there yet. */
  find(): Promise<Found>
  run(path: string, options: Options & { project: string }): Promise<Outcome>
}

export interface Options {
  readonly kind: Kind
  readonly columns: readonly Column[]
  readonly parts: readonly Part[]
  readonly jobs: number
  /** Name what there is, and run nothing. */
  readonly list: boolean
}

async function withServer(run: (server: RedisNode) => Promise<Outcome>): Promise<Outcome> {
  const server = await startStandalone({ config: ['appendonly yes'] })
  try {
    return await run(server)
  } finally {
    await server.stop()
  }
}

const COLUMNS: Readonly<Record<Kind, readonly Column[]>> = {
  servers: SERVERS.map((subject) => ({
    ...subject,
    find: () => serverBinary(subject),
    run: (server, options) =>
      runSuite({ ...options, node: process.execPath, server, log: `server-${subject.name}` }),
  })),
  nodes: NODES.map((subject) => ({
    ...subject,
    find: () => nodeBinary(subject),
    run: async (node, options) =>
      runSuite({ ...options, node, server: (await systemServer()).path, log: `node-${subject.name}` }),
  })),
  runtimes: RUNTIMES.map((subject) => ({
    ...subject,
    find: () => runtimeBinary(subject),
    run: (command, { project }) =>
      withServer(({ port }) => runProgram({ command, args: subject.args, project, port })),
  })),
  command: NODES.map((subject) => ({
    ...subject,
    find: () => nodeBinary(subject),
    run: (node, { project }) => withServer(({ url }) => runCommand({ node, project, url })),
  })),
}

const names = (all: readonly { readonly name: string }[]) => all.map(({ name }) => name).join(', ')

const USAGE = `usage: node --import tsx test/soak/compatibility/compatibility.ts KIND [--only a,b] [--parts a,b] [--jobs N] [--list]

Runs one KIND, and writes what passed to ${PAGE}:
  servers   parts of the suite on each server: ${names(SERVERS)}
  nodes     the same with each Node: ${names(NODES)}
  runtimes  a short program with the installed package: ${names(RUNTIMES)}
  command   the installed command rlock, by each Node

  --only a,b   some of them; the columns of the others stay as they are
  --parts a,b  some parts of the suite: ${names(PARTS)}; then the page stays as it is
  --jobs N     test files at a time (2)
  --list       what there is, without a run`

/** Undefined when help was asked for; throws when the arguments make no sense. */
export function parseOptions(args: string[]): Options | undefined {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      only: { type: 'string' },
      parts: { type: 'string' },
      jobs: { type: 'string' },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return undefined
  const kind = oneOf('KIND', positionals.join(' '), KINDS)
  return {
    kind,
    columns: chosen('only', COLUMNS[kind], values.only?.split(',')),
    parts: chosen('parts', PARTS, values.parts?.split(',')),
    jobs: wholeOption('jobs', values.jobs, 2, 1, 32),
    list: values.list,
  }
}

async function list({ columns }: Options): Promise<void> {
  for (const column of columns) {
    const { version, from } = await column.find()
    console.log(`${column.name}  ${column.title}: ${version} from ${from}`)
  }
  for (const { name, title } of PARTS) console.log(`${name}: ${title}`)
}

/** The day as the page has it. */
const today = () => new Date().toISOString().slice(0, 10)

async function resultOf(column: Column, options: Options, project: string): Promise<Result> {
  const { path, version, from } = await column.find()
  const beside = options.kind === 'servers' ? process.versions.node : (await systemServer()).version
  const outcome = await column.run(path, { ...options, project })
  return { name: column.name, title: column.title, version, from, beside, date: today(), ...outcome }
}

/** Runs one column after the other. Resolves with whether all passed. */
async function runAll(options: Options, project: string): Promise<boolean> {
  const { kind, columns, parts } = options
  let isSound = true
  for (const column of columns) {
    console.log(`${column.title} runs`)
    const result = await resultOf(column, options, project)
    console.log(`\n${report(kind, [result])}\n`)
    for (const { title, message } of result.failures) console.log(`✗ ${title}\n${message}\n`)
    if (result.failures.length > 0) isSound = false
    // At once: a run that is ended early has written the columns that it has. Some parts are no column.
    if (parts.length === PARTS.length) write(kind, result, COLUMNS[kind])
  }
  return isSound
}

async function main(options: Options): Promise<boolean> {
  if (options.list) return await list(options).then(() => true)
  if (options.kind === 'servers' || options.kind === 'nodes') return await runAll(options, '')
  const packages = options.kind === 'command' ? ['cli', 'redisson-config'] : []
  const installed = await InstalledPackage.install(packages)
  try {
    return await runAll(options, installed.project)
  } finally {
    installed.remove()
  }
}

if (require.main === module)
  main(optionsOrExit(parseOptions, USAGE)).then(
    (isSound) => process.exit(isSound ? 0 : 1),
    (error) => {
      console.error(error)
      process.exit(1)
    },
  )
