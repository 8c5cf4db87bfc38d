import { waitUntil } from '../../test/kit/servers/wait-until'
import type { Measured, Trouble } from '../scenarios/scenario'
import type { Subject } from '../subjects/catalogue'
import { epochNow } from '../worker/epoch'
import type { CallersWork, IdleWaitersResult, IdleWaitersWork, ObjectKind } from '../worker/protocol'
import type { Measuring } from './measuring'
import { overWindow, sum } from './server-counts'
import { together, WorkerProcess } from './worker-process'

const LOCK = 'bench:0'

/** Until all wait, and what they did to get there is over; a thousand threads take longer. */
const SETTLING = { node: 1_500, java: 6_000 }

/** Longer than any measurement: held for all of it, whatever the subject does about its lease. */
const FOR_LONG = 120_000

/** What a waiter does every few seconds is to be seen in every window, however short those of the other scenarios. */
const LEAST_QUIET = 6_000

export interface IdleWaitersSetup {
  readonly processes: number
  /** In each process. */
  readonly waiters: number
  /** Plain locks where it is absent. */
  readonly object?: ObjectKind
  /** Until all wait, where that takes longer than usual. */
  readonly settlingMs?: number
}

/** One process holds the lock; the waiters of some others wait, and nothing happens. */
export async function measureIdleWaiters(
  subject: Subject,
  { processes, waiters, object, settlingMs }: IdleWaitersSetup,
  measuring: Pick<Measuring, 'single' | 'command' | 'measureMs'>,
): Promise<Measured> {
  const { single } = measuring
  const server = single.servers[0]!
  await server.flushall()
  const command = measuring.command(subject)
  const common = { ...single.address, subject: subject.name, ...(object && { object }), locks: [LOCK] }
  const holding: CallersWork = {
    ...common,
    scenario: 'throughput',
    callers: 1,
    holdMs: FOR_LONG,
    warmupMs: 0,
    measureMs: FOR_LONG,
  }
  const measureMs = Math.max(LEAST_QUIET, measuring.measureMs)
  const times = { warmupMs: settlingMs ?? SETTLING[subject.runsOn], measureMs }
  const waiting: IdleWaitersWork | CallersWork =
    subject.runsOn === 'node'
      ? { ...common, ...times, scenario: 'idle-waiters', callers: waiters }
      : // Waits as well, and holds for long where it should not have waited; its heap is not looked at.
        { ...common, ...times, scenario: 'throughput', callers: waiters, holdMs: FOR_LONG }
  const holder = new WorkerProcess(command)
  try {
    await holder.prepare(holding, 30_000)
    // It does not come to its result.
    holder.run(epochNow(), FOR_LONG).catch(() => {})
    await waitUntil('the lock is held', async () => (await server.dbsize()) > 0, 10_000)
    // Those that do not renew would lose it on the way.
    for (const key of await server.keys('*')) await server.pexpire(key, FOR_LONG)
    const assignments = Array.from({ length: processes }, () => ({ command, work: waiting }))
    const { results, seen } = await together(assignments, (start) =>
      overWindow(single, waiting, start, subject.alsoSent),
    )
    const ended = sum(results.map((result) => ('ended' in result ? result.ended : result.sections)))
    const troubles: Trouble[] =
      ended > 0 ? [{ kind: 'errors', text: `${ended} waits ended: ${firstError(results)}` }] : []
    const heaps = results.map((result) => ('heapBytes' in result ? result.heapBytes : Number.NaN))
    return {
      figures: {
        idleCommandsPerSecond: seen.clientCommands,
        heapPerWaiter: sum(heaps) / (processes * waiters),
        serverCpu: seen.cpu,
      },
      troubles,
    }
  } finally {
    holder.kill()
    await holder.end()
  }
}

function firstError(results: readonly (Pick<IdleWaitersResult, 'errorMessages'> | object)[]): string {
  const messages = results.flatMap((result) =>
    'errorMessages' in result ? (result.errorMessages ?? []) : [],
  )
  return messages[0] ?? 'no error, the lock was acquired'
}
