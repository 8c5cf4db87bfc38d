import { type JavaPeer, javaAvailability, startJavaPeer } from '../compat/java-peer'
import { HOLD_MS, JAVA_PROCESS, JAVA_THREADS, type Keys } from './messages'

/** Starts the demo's Java process, a real Redisson; a string says why there can be none. */
export async function startJava(url: string): Promise<JavaPeer | string> {
  const java = await javaAvailability()
  if (!java.available) return `it takes a JDK 17 or newer and Maven; ${java.reason.split('\n')[0]}`
  return startJavaPeer({ redis: url, name: JAVA_PROCESS })
}

/** Resolves when its last section is over and the process has ended. */
export async function runJava(peer: JavaPeer, keys: Keys, durationMs: number): Promise<void> {
  const report = await peer.contend(keys.lock, {
    threads: JAVA_THREADS,
    durationMs,
    holdMs: HOLD_MS,
    counterKey: keys.counter,
    logStream: keys.log,
  })
  if (report.errorCount > 0) throw new Error(`${JAVA_PROCESS} failed: ${report.errors[0]}`)
  await peer.shutdown()
}
