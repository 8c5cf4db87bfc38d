import type { Disturbance, Disturbances } from './disturbances'
import { isJava } from './sections'

/** An `error` event of a client that could not publish comes within this much (µs) of the time in which it could not. */
const COMPLAINS_WITHIN = 2_000_000
const ABOUT_PUBLISHING = /publish|channel|NOPERM/i

/** Finds clients whose messages were refused, so that others slept on, and that raised no `error` event. */
export class Complaints {
  private readonly heard: { readonly worker: string; readonly at: number }[] = []
  private readonly judged = new Set<Disturbance>()

  constructor(private readonly disturbances: Disturbances) {}

  /** A worker's client raised an `error` event. */
  complained(worker: string, message: string, at: number): void {
    if (ABOUT_PUBLISHING.test(message)) this.heard.push({ worker, at })
  }

  /** Answers each refusal that passed in silence, once. */
  look(now: number): { refusal: Disturbance; worker: string }[] {
    return this.disturbances.all.flatMap((refusal) => {
      const { kind, target, from, to } = refusal
      if (kind !== 'publish-refused' || target === undefined || isJava(target)) return []
      if (to + COMPLAINS_WITHIN > now || this.judged.has(refusal)) return []
      this.judged.add(refusal)
      const isReported = this.heard.some(
        ({ worker, at }) => worker === target && at >= from && at <= to + COMPLAINS_WITHIN,
      )
      return isReported || this.isExcused(refusal, target) ? [] : { refusal, worker: target }
    })
  }

  /** Something else was broken meanwhile: perhaps it released nothing. */
  private isExcused(refusal: Disturbance, target: string): boolean {
    return this.disturbances.all.some(
      (other) =>
        other !== refusal &&
        other.from <= refusal.to &&
        other.to >= refusal.from &&
        (other.worker === undefined || other.worker === target),
    )
  }
}
