import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { uniqueName } from '../../test/kit/clients'
import type { CallersReport } from '../../test/kit/contention/callers'
import { startCallersProcess } from '../../test/kit/contention/callers-process'
import type { ContentionReport, JavaPeer } from '../../test/kit/java'

/** The queue is hot before Java comes, and stays so until Java has gone. */
const HOT_BEFORE_MS = 500
const HOT_AFTER_MS = 500

export interface HotQueue {
  readonly url: string
  readonly processes: number
  readonly callersEach: number
  readonly javaThreads: number
  /** How long each section lasts, beyond the two commands that count it. */
  readonly holdMs: number
  readonly durationMs: number
  readonly lockWatchdogTimeout: number
}

export interface HotQueueReport {
  readonly java: ContentionReport
  readonly node: readonly CallersReport[]
  /** Sections of all that left no trace in the counter they all raise: somebody else was inside. */
  readonly lostUpdates: number
}

/**
 * Node processes and the threads of one Java process at one lock, each asking again as soon as it is out. The
 * Java peer should be warm: its first turns measure its compiler.
 */
export async function meetAtHotQueue(redis: Redis, peer: JavaPeer, queue: HotQueue): Promise<HotQueueReport> {
  const [lock, counterKey] = [uniqueName('hot'), uniqueName('counter')]
  const { url, callersEach: callers, javaThreads: threads, holdMs, lockWatchdogTimeout } = queue
  const durationMs = HOT_BEFORE_MS + queue.durationMs + HOT_AFTER_MS
  const order = { url, lock, counterKey, callers, durationMs, holdMs, lockWatchdogTimeout }
  const processes = Array.from({ length: queue.processes }, () => startCallersProcess(order))
  try {
    await Promise.all(processes.map(({ ready }) => ready))
    const running = Promise.all(processes.map((each) => each.run()))
    const java = await Promise.race([
      sleep(HOT_BEFORE_MS).then(() =>
        peer.contend(lock, { threads, durationMs: queue.durationMs, holdMs, counterKey }),
      ),
      // Only to fail with them: what they report comes later.
      running.then(() => new Promise<never>(() => {})),
    ])
    const node = await running
    const sections = node.reduce((sum, report) => sum + report.sections, java.sections)
    return { java, node, lostUpdates: sections - Number(await redis.get(counterKey)) }
  } finally {
    for (const each of processes) each.kill()
  }
}
