// npm run demo: three Node processes and one Java process take the same lock, and Redis is asked how it went. Without a server three
// clients do, in memory.
import { randomUUID } from 'node:crypto'
import type { JavaPeer } from '../test/kit/java'
import { hasServer, WAYS_TO_A_SERVER } from '../test/kit/servers/find-server'
import { Evidence } from './evidence'
import { inMemoryStage } from './in-memory-stage'
import { JAVA_PROCESS, NODE_PROCESSES, type RecordKeys } from './messages'
import { type DemoOptions, parseOptions, USAGE } from './options'
import { plainMode } from './plain-mode'
import { colors, progress } from './progress'
import { readWriteMode } from './read-write/mode'
import { type OnCommand, runJava, type Stage, serverStage, startJava } from './stage'
import type { FinalState } from './verdict'

/** Resolves with whether the run showed what it should. */
async function demo(options: DemoOptions): Promise<boolean> {
  const name = `rlock-demo:${randomUUID().slice(0, 8)}`
  const keys: RecordKeys = {
    lock: name,
    counter: `${name}:counter`,
    twin: `${name}:twin`,
    log: `${name}:log`,
  }
  const processes = new Map<string, string>()
  const evidence = new Evidence(keys, processes)
  const stage = await stageFor(options, (command) => evidence.add(command))
  try {
    return await run(options, stage, { keys, processes, evidence })
  } finally {
    await stage.close()
  }
}

async function stageFor({ inMemory, install }: DemoOptions, onCommand: OnCommand): Promise<Stage> {
  if (inMemory) return inMemoryStage(onCommand)
  if (install || (await hasServer())) return serverStage(onCommand)
  console.log(`Here is no redis-server, no valkey-server and no container engine. So three clients of one process take the lock, in
memory. The whole demo needs one of these:
${WAYS_TO_A_SERVER}
`)
  return inMemoryStage(onCommand)
}

interface Seen {
  readonly keys: RecordKeys
  /** Names of processes by the ids of their clients. */
  readonly processes: Map<string, string>
  readonly evidence: Evidence
}

async function run(
  options: DemoOptions,
  stage: Stage,
  { keys, processes, evidence }: Seen,
): Promise<boolean> {
  const { seconds, callers, readWrite, metrics } = options
  const mode = readWrite ? readWriteMode : plainMode
  console.log(`Server: ${stage.server}`)

  const java = await javaFor(options, stage)
  const withJava = typeof java !== 'string'
  if (withJava) processes.set(java.clientId, JAVA_PROCESS)
  console.log(
    withJava
      ? `Java: 1 process, ${mode.javaInWords}, Redisson ${java.version}`
      : `Java: none, going on with Node only (${java})`,
  )

  const routines = mode.node(callers, withJava)
  const started = await Promise.all(
    NODE_PROCESSES.map((who) => stage.startNode({ who, keys, routines, metrics })),
  )
  started.forEach(({ clientId }, i) => {
    processes.set(clientId, NODE_PROCESSES[i]!)
  })
  console.log(`Node: ${NODE_PROCESSES.length} ${stage.nodes}, ${mode.nodeInWords(routines)}\n`)

  const view = progress()
  const rows = withJava ? [...NODE_PROCESSES, JAVA_PROCESS] : NODE_PROCESSES
  view.start({ mode, evidence, rows, seconds, now: () => stage.now() })
  try {
    await Promise.all([
      ...started.map(({ worker }) => worker.run(seconds * 1000)),
      withJava ? runJava(java, keys, mode.java, seconds * 1000) : undefined,
    ])
    await stage.caughtUp()
  } finally {
    view.finish()
  }
  for (const { worker } of started) if (worker.stderr) console.error(worker.stderr)

  for (const [i, { worker }] of started.entries()) {
    const scrape = await worker.scrape()
    if (scrape) console.log(`\nA scrape of ${NODE_PROCESSES[i]} would see:\n\n${scrape.trimEnd()}`)
  }

  const state: FinalState = { ...(await stage.finalState(keys)), withJava }
  const faults = mode.faultsOf(evidence, state)
  console.log(`\n${mode.summary(evidence, faults, { ...state, ...stage.setting }, colors)}`)
  return faults.length === 0
}

async function javaFor({ java }: DemoOptions, { url }: Stage): Promise<JavaPeer | string> {
  if (url === undefined) return 'it needs a server'
  return java ? startJava(url) : 'as asked by --no-java'
}

function readOptions(): DemoOptions {
  try {
    const options = parseOptions(process.argv.slice(2))
    if (options) return options
    console.log(USAGE)
    process.exit(0)
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`)
    process.exit(2)
  }
}

for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const) {
  // What was started ends with this process, and the cursor comes back: see the `exit` listeners.
  process.on(signal, () => {
    console.log('\nInterrupted: no verdict.')
    process.exit(code)
  })
}
// The reader of our output has gone, as `head` does.
process.stdout.on('error', () => process.exit(1))

demo(readOptions())
  .then(
    (ok) => (ok ? 0 : 1),
    (error: Error) => {
      console.error(`The demo failed: ${error.message}`)
      return 1
    },
  )
  .then((code) => process.exit(code))
