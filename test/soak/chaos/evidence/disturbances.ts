import { type FaultKind, LATE_MS, SPECS } from '../plan/catalogue'

/** A fault while it lasts and as long as its traces may. Times in µs. */
export interface Disturbance {
  readonly kind: FaultKind
  /** The worker that feels it, or undefined when all do. */
  readonly worker: string | undefined
  /** The worker it was done to, or undefined when it was done to no single one. */
  readonly target: string | undefined
  readonly from: number
  /** Infinity while it lasts. */
  to: number
}

const traces = ({ kind, to }: Disturbance): number => to + SPECS[kind].recovery * 1000

/** What was broken when, in order. */
export class Disturbances {
  readonly all: Disturbance[] = []

  begin(kind: FaultKind, worker: string | undefined, at: number, target = worker): Disturbance {
    const disturbance = { kind, worker, target, from: at, to: Number.POSITIVE_INFINITY }
    this.all.push(disturbance)
    return disturbance
  }

  /** Those whose time, traces included, touches the span and which concern the worker. */
  touching(worker: string | undefined, from: number, to: number): Disturbance[] {
    return this.all.filter(
      (each) =>
        each.from <= to &&
        traces(each) >= from &&
        (each.worker === undefined || worker === undefined || each.worker === worker),
    )
  }

  /** How much of the span no fault excuses, for this worker. */
  quiet(worker: string, from: number, to: number): number {
    let quiet = 0
    let at = from
    for (const each of this.touching(worker, from, to)) {
      if (each.from > at) quiet += each.from - at
      at = Math.max(at, traces(each))
    }
    return quiet + Math.max(0, to - at)
  }

  /** What a hold was most likely lost by, had it from one moment and lost at the other. */
  causeOfLoss(worker: string, from: number, to: number): Disturbance | undefined {
    const touching = this.touching(worker, from, to)
    return touching.findLast(({ kind }) => SPECS[kind].costsHolds) ?? touching.at(-1) ?? this.latestBefore(to)
  }

  /** The last to begin before that moment: what is most likely to blame. */
  latestBefore(at: number, worker?: string): Disturbance | undefined {
    const candidates = this.touching(worker, at, at)
    return candidates.at(-1) ?? this.all.filter((each) => each.from <= at).at(-1)
  }

  /** When the last copy has arrived that a fault delays (µs); to be asked at the end. */
  lastLateCopy(): number {
    const ends = this.all.filter(({ kind }) => kind === 'late-copies').map(({ to }) => to + LATE_MS * 1_000)
    return Math.max(0, ...ends.filter(Number.isFinite))
  }
}
