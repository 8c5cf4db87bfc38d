import { type CallersSetup, measureCallers } from '../driver/callers'
import type { Measuring, Place } from '../driver/measuring'
import { together } from '../driver/worker-process'
import { LOCK, type Subject } from '../subjects/catalogue'
import type { FirstCyclesWork, ObjectKind } from '../worker/protocol'

/** What one build did in one window. */
export interface Window {
  readonly sectionsPerSecond: number
  readonly clientUsPerSection: number
  readonly clientCommandsPerSection?: number
}

export interface PairScenario {
  readonly name: string
  readonly subject: Subject
  /** The calls that lock nothing are measured, too. */
  readonly besideNoOp?: true
  measure(subject: Subject, places: PairPlaces, measuring: PairMeasuring): Promise<Window>
}

export type PairPlaces = Pick<Measuring, 'single' | 'cluster' | 'several'>

export type PairMeasuring = Pick<Measuring, 'command' | 'warmupMs' | 'measureMs'>

const CYCLES = 5_000

const alone = { processes: 1, callers: 1, locks: 1 }

export const PAIR_SCENARIOS: readonly PairScenario[] = [
  callers('one-caller', alone, { besideNoOp: true }),
  object('with-lock', 'with-lock', alone),
  object('fenced', 'fenced', alone),
  object('token', 'token', alone),
  object('non-reentrant', 'non-reentrant', alone),
  callers('many-locks-one-caller', { ...alone, locks: 64, callers: 1 }),
  callers('64-on-one', { ...alone, callers: 64 }),
  callers('64-on-64', { ...alone, callers: 64, locks: 64 }),
  callers('read-write-16', { ...alone, callers: 16, reading: { readers: 9, writers: 1 } }),
  object('fair-16', 'fair', { ...alone, callers: 16 }),
  object('multi-of-3', 'multi', alone),
  object('red-of-3', 'red', alone, { place: (places) => places.several(3) }),
  object('semaphore-1', 'semaphore', { ...alone, permits: 8 }),
  object('semaphore-64', 'semaphore', { ...alone, callers: 64, permits: 8 }),
  object('expirable-1', 'expirable-semaphore', { ...alone, permits: 8 }),
  object('expirable-64', 'expirable-semaphore', { ...alone, callers: 64, permits: 8 }),
  // Over a link of 10 ms there and back.
  callers(
    '1000-readers-far',
    { ...alone, callers: 1_000, reading: { readers: 1, writers: 0 }, farMs: 5 },
    { mayStarve: true },
  ),
  object('semaphore-64-far', 'semaphore', { ...alone, callers: 64, permits: 8, farMs: 5, holdMs: 1 }),
  object('expirable-64-far', 'expirable-semaphore', {
    ...alone,
    callers: 64,
    permits: 8,
    farMs: 5,
    holdMs: 1,
  }),
  callers('4-processes-of-4', { processes: 4, callers: 4, locks: 1 }),
  callers('4-writers-of-4', { processes: 4, callers: 4, locks: 1, reading: { readers: 0, writers: 1 } }),
  object('4x16-semaphore', 'semaphore', { processes: 4, callers: 16, locks: 1, permits: 8 }),
  callers('cluster-one-caller', alone, { besideNoOp: true, place: (places) => places.cluster() }),
  { name: 'first-5000-cycles', subject: LOCK, besideNoOp: true, measure: measureFirstCycles },
]

interface Where {
  readonly besideNoOp?: true
  /** A build that lets in one caller per round trip does not serve all of them in a window. */
  readonly mayStarve?: true
  place?(places: PairPlaces): Promise<Place>
}

function callers(name: string, setup: CallersSetup, where: Where = {}, subject = LOCK): PairScenario {
  return {
    name,
    subject,
    ...(where.besideNoOp && { besideNoOp: true }),
    async measure(measured, places, measuring) {
      const place = (await where.place?.(places)) ?? places.single
      const { figures, troubles } = await measureCallers(measured, setup, place, measuring)
      for (const { kind, text } of troubles)
        if (kind !== 'starves' || !where.mayStarve) throw new Error(`${name} ${kind}: ${text}`)
      return {
        sectionsPerSecond: figures.sectionsPerSecond!,
        clientUsPerSection: figures.clientUsPerSection!,
        clientCommandsPerSection: figures.clientCommandsPerSection!,
      }
    },
  }
}

function object(name: string, kind: ObjectKind, setup: CallersSetup, where: Where = {}): PairScenario {
  return callers(name, { ...setup, object: kind }, where, LOCK)
}

async function measureFirstCycles(
  subject: Subject,
  { single }: PairPlaces,
  { command }: PairMeasuring,
): Promise<Window> {
  await Promise.all(single.servers.map((server) => server.flushall()))
  const work: FirstCyclesWork = {
    ...single.address,
    scenario: 'first-cycles',
    subject: subject.name,
    locks: ['bench:0'],
    cycles: CYCLES,
    warmupMs: 0,
    measureMs: 0,
  }
  const { results } = await together([{ command: command(subject), work }])
  const { seconds, cpuSeconds } = results[0]!
  return { sectionsPerSecond: CYCLES / seconds, clientUsPerSection: (cpuSeconds / CYCLES) * 1e6 }
}
