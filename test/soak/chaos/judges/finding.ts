import type { Disturbances } from '../evidence/disturbances'
import type { ViolationKind } from '../evidence/violations'
import { SPECS } from '../plan/catalogue'

/** What a judge of one object found; the time in µs. */
export interface Finding {
  readonly kind: ViolationKind
  readonly at: number
  readonly what: string
  readonly worker?: string | undefined
}

/** Whether the server may have lost what it had confirmed since that moment (µs): nothing can be judged by it then. */
export function lostDataSince({ all }: Disturbances, since: number, now: number): boolean {
  return all.some(({ kind, from, to }) => SPECS[kind].losesData && from <= now && to >= since)
}
