// npm run demo: three Node processes and one Java process take the same lock, and Redis is asked how it went.
import { randomUUID } from 'node:crypto'
import { sharedStandalone, stopShared } from '../test/kit/servers/index'
import { Evidence } from './evidence'
import { runJava, startJava } from './java-process'
import { JAVA_PROCESS, NODE_PROCESSES, type RecordKeys } from './messages'
import { type DemoOptions, parseOptions, USAGE } from './options'
import { plainMode } from './plain-mode'
import { colors, progress } from './progress'
import { readWriteMode } from './read-write/mode'
import { ServerRecord } from './server-record'
import type { FinalState } from './verdict'
import { WorkerProcess } from './worker-process'

/** Resolves with whether the run showed what it should. */
async function demo({ seconds, callers, java: wantsJava, readWrite }: DemoOptions): Promise<boolean> {
  const mode = readWrite ? readWriteMode : plainMode
  const { url } = await sharedStandalone()
  const name = `rlock-demo:${randomUUID().slice(0, 8)}`
  const keys: RecordKeys = {
    lock: name,
    counter: `${name}:counter`,
    twin: `${name}:twin`,
    log: `${name}:log`,
  }
  const processes = new Map<string, string>()
  const evidence = new Evidence(keys, processes)
  const record = await ServerRecord.open(url, (command) => evidence.add(command))
  console.log(`Server: ${await versionOf(record)} on ${new URL(url).host}`)

  const java = wantsJava ? await startJava(url) : 'as asked by --no-java'
  const withJava = typeof java !== 'string'
  if (withJava) processes.set(java.clientId, JAVA_PROCESS)
  console.log(
    withJava
      ? `Java: 1 process, ${mode.javaInWords}, Redisson ${java.version}`
      : `Java: none, going on with Node only (${java})`,
  )

  const routines = mode.node(callers, withJava)
  const started = await Promise.all(
    NODE_PROCESSES.map((who) => WorkerProcess.start({ who, url, keys, routines })),
  )
  started.forEach(({ clientId }, i) => {
    processes.set(clientId, NODE_PROCESSES[i]!)
  })
  console.log(`Node: ${NODE_PROCESSES.length} processes, ${mode.nodeInWords(routines)}\n`)

  const view = progress()
  const rows = withJava ? [...NODE_PROCESSES, JAVA_PROCESS] : NODE_PROCESSES
  view.start({ mode, evidence, rows, seconds, now: () => record.now() })
  try {
    await Promise.all([
      ...started.map(({ worker }) => worker.run(seconds * 1000)),
      withJava ? runJava(java, keys, mode.java, seconds * 1000) : undefined,
    ])
    await record.caughtUp()
  } finally {
    view.finish()
  }
  for (const { worker } of started) if (worker.stderr) console.error(worker.stderr)

  const state: FinalState = {
    counter: Number(await record.redis.get(keys.counter)),
    twin: Number(await record.redis.get(keys.twin)),
    logLength: await record.redis.xlen(keys.log),
    withJava,
  }
  await record.redis.del(...Object.values(keys))
  record.close()
  const faults = mode.faultsOf(evidence, state)
  console.log(`\n${mode.summary(evidence, faults, state, colors)}`)
  return faults.length === 0
}

async function versionOf({ redis }: ServerRecord): Promise<string> {
  const info = await redis.info('server')
  const valkey = /^valkey_version:(\S+)/m.exec(info)?.[1]
  return valkey ? `Valkey ${valkey}` : `Redis ${/^redis_version:(\S+)/m.exec(info)?.[1]}`
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
  .then(async (code) => {
    await stopShared()
    process.exit(code)
  })
