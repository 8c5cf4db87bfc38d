import { type JavaPeer, javaAvailability, startJavaPeer } from '../test/kit/java'
import { sharedStandalone, stopShared } from '../test/kit/servers/index'
import { JAVA_PROCESS, type RecordKeys, type Routine, type WorkerSetup } from './messages'
import type { Setting } from './mode'
import { type ServerCommand, ServerRecord } from './server-record'
import type { FinalState } from './verdict'
import { WorkerProcess } from './worker-process'

/** Where the demo runs: the server, what it recorded, and what takes the lock there. */
export interface Stage {
  /** The server, in words. */
  readonly server: string
  /** For Java; undefined where no other process reaches the server. */
  readonly url: string | undefined
  /** What `startNode` starts, in the plural. */
  readonly nodes: string
  readonly setting: Setting
  startNode(setup: WorkerSetup): Promise<{ worker: Worker; clientId: string }>
  /** The server's clock, in ms. */
  now(): number
  /** Resolves when everything that the server has run until now is recorded. */
  caughtUp(): Promise<void>
  finalState(keys: RecordKeys): Promise<Omit<FinalState, 'withJava'>>
  close(): Promise<void>
}

export interface Worker {
  /** Resolves when its last section is over. */
  run(durationMs: number): Promise<void>
  /** What it had to say besides. */
  readonly stderr: string
  /** What a scrape of its process would see after its last section, where that was asked for. */
  scrape(): Promise<string | undefined>
}

export type OnCommand = (command: ServerCommand) => void

/** A real server, and processes. */
export async function serverStage(onCommand: OnCommand): Promise<Stage> {
  const { url } = await sharedStandalone()
  const record = await ServerRecord.open(url, onCommand)
  const { redis } = record
  let used: RecordKeys | undefined
  return {
    server: `${await versionOf(record)} on ${new URL(url).host}`,
    url,
    nodes: 'processes',
    setting: {
      record: "Redis's own record of all commands in the order it ran them (MONITOR)",
      withoutJava: 'No Java took part: this shows nothing about Node beside Java',
    },
    startNode: (setup) => WorkerProcess.start(url, setup),
    now: () => record.now(),
    caughtUp: () => record.caughtUp(),
    async finalState(keys) {
      used = keys
      return {
        counter: Number(await redis.get(keys.counter)),
        twin: Number(await redis.get(keys.twin)),
        logLength: await redis.xlen(keys.log),
      }
    },
    async close() {
      if (used) await redis.del(...Object.values(used))
      record.close()
      await stopShared()
    },
  }
}

async function versionOf({ redis }: ServerRecord): Promise<string> {
  const info = await redis.info('server')
  const valkey = /^valkey_version:(\S+)/m.exec(info)?.[1]
  return valkey ? `Valkey ${valkey}` : `Redis ${/^redis_version:(\S+)/m.exec(info)?.[1]}`
}

/** Starts the demo's Java process, a real Redisson; a string says why there can be none. */
export async function startJava(url: string): Promise<JavaPeer | string> {
  const java = await javaAvailability()
  if (!java.available) return `it takes a JDK 17 or newer and Maven; ${java.reason.split('\n')[0]}`
  try {
    return await startJavaPeer({ redis: url, name: JAVA_PROCESS })
  } catch (error) {
    throw new Error(`${(error as Error).message}\nWith --no-java the demo goes without Java.`)
  }
}

/** Resolves when its last section is over and the process has ended. */
export async function runJava(
  peer: JavaPeer,
  keys: RecordKeys,
  routines: readonly Routine[],
  durationMs: number,
): Promise<void> {
  const reports = await Promise.all(
    routines.map(({ side, times, holdMs, pauseMs }) =>
      peer.contend(keys.lock, {
        type: side,
        threads: times,
        durationMs,
        holdMs,
        pauseMs: [0, pauseMs],
        counterKey: keys.counter,
        twinKey: side === 'lock' ? undefined : keys.twin,
        logStream: keys.log,
      }),
    ),
  )
  const errors = reports.flatMap((report) => report.errors)
  if (errors.length > 0) throw new Error(`${JAVA_PROCESS} failed: ${errors[0]}`)
  await peer.shutdown()
}
