import { setTimeout as sleep } from 'node:timers/promises'
import type { Figures, Measured } from '../scenarios/scenario'
import type { Subject } from '../subjects/catalogue'
import { epochNow } from '../worker/epoch'
import type { ThroughputResult, ThroughputWork } from '../worker/protocol'
import type { Measuring } from './measuring'
import { commandCounts, difference, sum, traffic } from './server-counts'
import { atRank } from './statistics'
import { WorkerProcess, WorkerTimeout } from './worker-process'

export interface ThroughputSetup {
  readonly processes: number
  readonly flows: number
  readonly locks: number
}

const READY_WITHIN = 30_000
const RESULT_WITHIN = 5_000
const TO_START = 30

/** Has a number of processes take turns, and counts what they and the server did in the window. */
export async function measureThroughput(
  subject: Subject,
  setup: ThroughputSetup,
  measuring: Measuring,
): Promise<Measured> {
  const { redis, measureMs } = measuring
  await redis.flushall()
  const work: ThroughputWork = {
    scenario: 'throughput',
    redis: measuring.url,
    subject: subject.name,
    flows: setup.flows,
    locks: Array.from({ length: setup.locks }, (_, index) => `bench:${index}`),
    warmupMs: measuring.warmupMs(subject),
    measureMs,
    holdMs: 0,
  }
  const workers = Array.from({ length: setup.processes }, () => new WorkerProcess(measuring.command(subject)))
  try {
    await Promise.all(workers.map((worker) => worker.prepare(work, READY_WITHIN)))
    const start = epochNow() + TO_START
    const timeout = TO_START + work.warmupMs + measureMs + RESULT_WITHIN
    const results = Promise.all(workers.map((worker) => worker.run<ThroughputResult>(start, timeout)))
    // Awaited below; until then a failure must not count as one that nobody heard of.
    results.catch(() => {})
    await sleep(start + work.warmupMs - epochNow())
    const [before, countedFrom] = [await commandCounts(redis), performance.now()]
    await sleep(start + work.warmupMs + measureMs - epochNow())
    const [after, countedTo] = [await commandCounts(redis), performance.now()]
    const seen = traffic(difference(before, after), subject.alsoSent)
    const seconds = (countedTo - countedFrom) / 1_000
    return judged(await results, setup, measureMs, {
      clientCommandsPerSecond: seen.clientCommands / seconds,
      serverCommandsPerSecond: seen.serverCommands / seconds,
      messagesPerSecond: seen.messages / seconds,
    })
  } catch (error) {
    if (!(error instanceof WorkerTimeout)) throw error
    return { figures: {}, troubles: [`hangs: ${error.message}`] }
  } finally {
    await Promise.all(workers.map((worker) => worker.end()))
  }
}

type TrafficRates = Record<`${'clientCommands' | 'serverCommands' | 'messages'}PerSecond`, number>

function judged(
  results: readonly ThroughputResult[],
  setup: ThroughputSetup,
  measureMs: number,
  rates: TrafficRates,
): Measured {
  const sections = sum(results.map((result) => result.sections))
  const perFlow = results.flatMap((result) => result.perFlow)
  const rate = sections / (measureMs / 1_000)
  const waits = Float64Array.from(results.flatMap((result) => result.waitsUs)).sort()
  const waitP99Ms = atRank(waits, 0.99) / 1_000
  const figures: Figures = {
    sectionsPerSecond: rate,
    waitP50Ms: atRank(waits, 0.5) / 1_000,
    waitP99Ms,
    waitMaxMs: atRank(waits, 1) / 1_000,
    // One turn of a perfect queue: every flow once.
    waitP99Turns: (waitP99Ms / 1_000) * (rate / perFlow.length),
    leastFlowShare: leastShare(perFlow),
    // Java does not count it: NaN.
    overtakenShare: sum(results.map((result) => result.overtaken ?? Number.NaN)) / sections,
    leastProcessShare: leastShare(results.map((result) => result.sections)),
    clientCommandsPerSection: rates.clientCommandsPerSecond / rate,
    serverCommandsPerSection: rates.serverCommandsPerSecond / rate,
    messagesPerSection: rates.messagesPerSecond / rate,
  }
  return { figures, troubles: troublesOf(results, setup, measureMs) }
}

/** What the one that got least has of what it would have, were all served alike. */
function leastShare(counts: readonly number[]): number {
  return (Math.min(...counts) * counts.length) / sum(counts)
}

function troublesOf(
  results: readonly ThroughputResult[],
  { flows, processes }: ThroughputSetup,
  measureMs: number,
): string[] {
  const troubles: string[] = []
  const last = Math.max(...results.map((result) => result.lastSectionAt))
  if (last < measureMs / 2)
    troubles.push(
      last < 0
        ? 'hangs: no section in the whole window'
        : `hangs: no section after the first ${Math.round(last)} ms of the window`,
    )
  const starved = results.flatMap((result) => result.perFlow).filter((count) => count === 0).length
  if (starved > 0 && last >= 0) troubles.push(`${starved} of ${flows * processes} flows were never served`)
  const violations = sum(results.map((result) => result.violations))
  if (violations > 0) troubles.push(`${violations} times two were inside at once`)
  const errors = sum(results.map((result) => result.errors))
  const first = results.flatMap((result) => result.errorMessages ?? [])[0]
  if (errors > 0) troubles.push(`${errors} calls failed, first: ${first ?? '(no message)'}`)
  return troubles
}
