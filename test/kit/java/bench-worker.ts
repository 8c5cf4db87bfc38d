import { javaCommand } from './availability'
import { buildPeer } from './build'
import { REDISSON_VERSIONS } from './versions'

/** What to spawn for a worker of the bench that speaks of bench/worker/protocol.ts. */
export interface BenchWorkerCommand {
  readonly command: string
  readonly args: readonly string[]
}

/**
 * Java Redisson as a worker of the bench, built first where needed. Unlike the tests' peers it runs with
 * Java's default flags: what is measured must be what a service gets.
 */
export async function javaBenchWorker(
  version: string = REDISSON_VERSIONS.newest,
): Promise<BenchWorkerCommand> {
  const { classpath } = await buildPeer(version)
  const log = '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn'
  return { command: javaCommand('java'), args: [log, '-cp', classpath, 'rlock.peer.bench.BenchWorker'] }
}
