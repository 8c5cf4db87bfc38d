import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import type { Trouble } from '../scenarios/scenario'
import type { Subject } from '../subjects/catalogue'
import { epochNow } from '../worker/epoch'
import type { HandoffResult, HandoffWork } from '../worker/protocol'
import type { Measuring } from './measuring'
import { atRank } from './statistics'
import { together } from './worker-process'

export interface Handoffs {
  readonly p50: number
  readonly p99: number
  /** The median of a PING meanwhile. */
  readonly roundTripMs: number
  readonly troubles: readonly Trouble[]
}

/** In the rhythm of the handoffs: one after another they would find all processes and caches warm. */
const BETWEEN_PINGS = 10

/** Two processes take turns at a lock. */
export async function measureHandoff(
  subject: Subject,
  { holdMs, jitterMs }: { holdMs: number; jitterMs: number },
  measuring: Pick<Measuring, 'single' | 'command' | 'measureMs' | 'warmupMs' | 'quick'>,
): Promise<Handoffs> {
  const { address, servers } = measuring.single
  await servers[0]!.flushall()
  const times = {
    warmupMs: measuring.warmupMs(subject),
    // So that those that poll slowly come to more than a few.
    measureMs: Math.max(measuring.measureMs, (measuring.quick ? 5 : 12) * holdMs),
  }
  const assignment = (role: HandoffWork['role']) => {
    const work = {
      ...address,
      ...times,
      scenario: 'handoff' as const,
      role,
      holdMs,
      jitterMs,
      locks: ['bench:0'],
    }
    return { command: measuring.command(subject), work: { ...work, subject: subject.name } }
  }
  const until = (start: number) => start + times.warmupMs + times.measureMs
  const { results, seen } = await together([assignment('holder'), assignment('taker')], (start) =>
    medianRoundTrip(servers[0]!, start + times.warmupMs, until(start)),
  )
  const [here, there] = results as [HandoffResult, HandoffResult]
  const sorted = Float64Array.from([...pairs(here, there), ...pairs(there, here)]).sort()
  const troubles: Trouble[] = sorted.length > 0 ? [] : [{ kind: 'hangs', text: 'nothing was handed off' }]
  return { p50: atRank(sorted, 0.5), p99: atRank(sorted, 0.99), roundTripMs: seen, troubles }
}

/** From each release of the one to the entry of the other, where that came next. */
function pairs(from: HandoffResult, to: HandoffResult): number[] {
  return from.unlocks.flatMap((unlock) => {
    const entry = to.entries.find((time) => time >= unlock)
    const ownNext = from.entries.find((time) => time > unlock)
    const cameNext = entry !== undefined && (ownNext === undefined || entry < ownNext)
    return cameNext ? [entry - unlock] : []
  })
}

async function medianRoundTrip(redis: Redis, from: number, until: number): Promise<number> {
  await sleep(from - epochNow())
  const took: number[] = []
  while (epochNow() < until) {
    const sent = performance.now()
    await redis.ping()
    took.push(performance.now() - sent)
    await sleep(BETWEEN_PINGS)
  }
  return atRank(
    took.sort((a, b) => a - b),
    0.5,
  )
}
