import { epochNow } from '../worker/epoch'
import type { Results, Work } from '../worker/protocol'
import { type Command, WorkerProcess } from './worker-process'

export interface Assignment<W extends Work = Work> {
  readonly command: Command
  readonly work: W
}

/** Many JVMs that start at once on a small machine take their time. */
const READY_WITHIN = 60_000
const RESULT_WITHIN = 10_000

/** Between the word and the start: long enough that it has reached every worker. */
const TO_START = 50

/**
 * Has one process for each assignment do its work, all from the same moment on, and meanwhile does something of
 * its own, which is given that moment. Rejects with a WorkerTimeout where a worker does not come to its end.
 */
export async function together<W extends Work, D = undefined>(
  assignments: readonly Assignment<W>[],
  meanwhile?: (start: number) => Promise<D>,
): Promise<{ results: Results[W['scenario']][]; seen: D }> {
  const workers = assignments.map(({ command }) => new WorkerProcess(command))
  try {
    await Promise.all(workers.map((worker, index) => worker.prepare(assignments[index]!.work, READY_WITHIN)))
    const start = epochNow() + TO_START
    const results = assignments.map(({ work }, index) =>
      workers[index]!.run<Results[W['scenario']]>(
        start,
        TO_START + work.warmupMs + work.measureMs + RESULT_WITHIN,
      ),
    )
    const all = Promise.all(results)
    // Awaited below; until then a failure must not count as one without a handler.
    all.catch(() => {})
    const seen = (await meanwhile?.(start)) as D
    return { results: await all, seen }
  } finally {
    await Promise.all(workers.map((worker) => worker.end()))
  }
}
