import { type JavaPeer, javaAvailability, startJavaPeer } from '../test/kit/java'
import { JAVA_PROCESS, type RecordKeys, type Routine } from './messages'

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
