import { startProxy, type TcpProxy } from '../../test/kit/servers/index'
import type { Figures, Measured, Trouble } from '../scenarios/scenario'
import type { Subject } from '../subjects/catalogue'
import type { CallersResult, CallersWork, ObjectKind } from '../worker/protocol'
import type { Measuring, Place } from './measuring'
import { overWindow, type ServerRates, sum } from './server-counts'
import { atRank } from './statistics'
import { together } from './worker-process'

export interface CallersSetup {
  readonly processes: number
  /** In each process. */
  readonly callers: number
  readonly locks: number
  /** Each process has so many of its own, rather than all the same. */
  readonly apart?: boolean
  readonly holdMs?: number
  /** What they take; plain locks where it is absent. */
  readonly object?: ObjectKind
  /** Of each semaphore. */
  readonly permits?: number
  /** Stops a server when the workers are connected, and lets it go on afterwards. */
  readonly stall?: { begin(): Promise<void>; end(): Promise<void> }
  /** The last process reaches a single server through a proxy, on which each message takes so many ms. */
  readonly farMs?: number
  /** Of so many turns so many read, and the rest write; plain locks where it is absent. */
  readonly reading?: { readonly readers: number; readonly writers: number }
}

/** Has a number of processes take turns, and judges what they and the servers did in the window. */
export async function measureCallers(
  subject: Subject,
  setup: CallersSetup,
  place: Place,
  measuring: Pick<Measuring, 'command' | 'warmupMs' | 'measureMs'>,
): Promise<Measured> {
  await Promise.all(place.servers.map((server) => server.flushall()))
  const locksOf = (process: string) =>
    Array.from({ length: setup.locks }, (_, index) => `bench:${process}${index}`)
  const work: CallersWork = {
    ...place.address,
    ...(setup.reading ? { scenario: 'read-write', ...setup.reading } : { scenario: 'throughput' }),
    subject: subject.name,
    callers: setup.callers,
    locks: locksOf(''),
    ...(setup.object && { object: setup.object }),
    ...(setup.permits && { permits: setup.permits }),
    warmupMs: measuring.warmupMs(subject, setup.processes),
    measureMs: measuring.measureMs,
    holdMs: setup.holdMs ?? 0,
  }
  if (setup.permits) await setPermits(place, work.locks, setup.permits)
  const command = measuring.command(subject)
  const proxy = setup.farMs === undefined ? undefined : await farAway(place, setup.farMs)
  const assignments = Array.from({ length: setup.processes }, (_, index) => ({
    command,
    work: {
      ...work,
      ...(setup.apart && { locks: locksOf(`${index}:`) }),
      ...(proxy && index === setup.processes - 1 && { redis: proxy.url }),
    },
  }))
  try {
    const { results, seen } = await together(assignments, async (start) => {
      await setup.stall?.begin()
      return await overWindow(place, work, start, subject.alsoSent)
    })
    const { measureMs } = measuring
    return { figures: figuresOf(results, measureMs, seen), troubles: troublesOf(results, measureMs) }
  } finally {
    await proxy?.stop()
    await setup.stall?.end()
  }
}

/** Of semaphores as Redisson keeps them: a number under their name. */
async function setPermits({ servers }: Place, names: readonly string[], permits: number): Promise<void> {
  for (const name of names) await servers[0]!.set(name, permits)
}

async function farAway({ address }: Place, ms: number): Promise<TcpProxy> {
  if (!('redis' in address)) throw new Error('only a single server can be far away')
  const { hostname: host, port } = new URL(address.redis)
  const proxy = await startProxy({ host, port: Number(port) })
  proxy.delay(ms)
  return proxy
}

function figuresOf(results: readonly CallersResult[], measureMs: number, seen: ServerRates): Figures {
  const sections = sum(results.map((result) => result.sections))
  const perCaller = results.flatMap((result) => result.perCaller)
  const rate = sections / (measureMs / 1_000)
  const waits = Float64Array.from(results.flatMap((result) => result.waitsUs)).sort()
  const waitP99Ms = atRank(waits, 0.99) / 1_000
  return {
    sectionsPerSecond: rate,
    waitP50Ms: atRank(waits, 0.5) / 1_000,
    waitP99Ms,
    waitMaxMs: atRank(waits, 1) / 1_000,
    // One turn of a perfect queue: every caller once.
    waitP99Turns: (waitP99Ms / 1_000) * (rate / perCaller.length),
    leastCallerShare: leastShare(perCaller),
    overtakenShare: sum(results.map((result) => result.overtaken)) / sections,
    leastProcessShare: leastShare(results.map((result) => result.sections)),
    clientCommandsPerSection: seen.clientCommands / rate,
    serverCommandsPerSection: seen.serverCommands / rate,
    messagesPerSection: seen.messages / rate,
    serverCpu: seen.cpu,
    serverUsPerSection: (seen.cpu / rate) * 1e6,
    clientUsPerSection: (sum(results.map(({ cpuSeconds }) => cpuSeconds ?? Number.NaN)) / sections) * 1e6,
  }
}

/** What the one that got least has of what it would have, were all served alike. */
function leastShare(counts: readonly number[]): number {
  return (Math.min(...counts) * counts.length) / sum(counts)
}

function troublesOf(results: readonly CallersResult[], measureMs: number): Trouble[] {
  const troubles: Trouble[] = []
  const last = Math.max(...results.map((result) => result.lastSectionAt))
  if (last < measureMs / 2) {
    const text =
      last < 0 ? 'no section in the whole window' : `no section after the first ${Math.round(last)} ms`
    troubles.push({ kind: 'hangs', text })
  }
  const perCaller = results.flatMap((result) => result.perCaller)
  const starved = perCaller.filter((count) => count === 0).length
  if (starved > 0 && last >= 0)
    troubles.push({ kind: 'starves', text: `${starved} of ${perCaller.length} callers were never served` })
  const violations = sum(results.map((result) => result.violations))
  if (violations > 0) troubles.push({ kind: 'lets two in', text: `${violations} times` })
  const errors = sum(results.map((result) => result.errors))
  const first = results.flatMap((result) => result.errorMessages ?? [])[0] ?? 'no message'
  if (errors > 0) troubles.push({ kind: 'errors', text: `${errors} calls failed: ${first}` })
  return troubles
}
