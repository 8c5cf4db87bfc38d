import type { ClientChanged, Excuse, FaultInjected } from '../../../../tools/simulator/judge/history'
import { type FaultKind, SPECS } from '../plan/catalogue'
import type { Disturbance } from './disturbances'

/** A process stands still. */
const STOPS: readonly FaultKind[] = ['stop-worker', 'stop-java', 'block-loop']
/** The servers are without what they had. Where two answer for one name, a holder must not work at the wrong one. */
const FORGETS: readonly FaultKind[] = ['restart-empty', 'failover', 'kill-primary']

/** What happens to the counters of a generation that is used no more is not judged. */
export interface Names {
  readonly locks: readonly string[]
  /** With semaphores and latches of all generations so far. */
  readonly counters: readonly string[]
}

/** What was broken, as the judge reads it: for how long, and what it excuses. `ms`: the time of a moment. */
export function faultsOf(
  { kind, worker, from, to }: Disturbance,
  { locks, counters }: Names,
  ms: (micros: number) => number,
): FaultInjected[] {
  const { recovery, losesData } = SPECS[kind]
  const fault = (excuses: readonly Excuse[], more: Partial<FaultInjected> = {}): FaultInjected => ({
    ...{ type: 'fault', at: ms(from), kind, until: ms(to), recovery, excuses },
    ...(worker === undefined ? {} : { clients: [worker] }),
    ...more,
  })
  const faults = [fault(['delay', 'errors', 'loss', 'order'])]
  if (FORGETS.includes(kind)) faults.push(fault(['data'], { names: locks, forgets: true }))
  if (losesData) faults.push(fault(['data'], { names: counters, recovery: Number.POSITIVE_INFINITY }))
  return faults
}

/** When its process stood still. */
export function standstillsOf(
  { kind, worker, from, to }: Disturbance,
  ms: (micros: number) => number,
): ClientChanged[] {
  if (!STOPS.includes(kind) || worker === undefined) return []
  const change = (at: number, name: 'suspended' | 'resumed'): ClientChanged => ({
    ...{ type: 'client', at: ms(at), client: worker, change: name },
    peer: kind === 'stop-java' ? 'java' : 'node',
  })
  return [change(from, 'suspended'), ...(Number.isFinite(to) ? [change(to, 'resumed')] : [])]
}
