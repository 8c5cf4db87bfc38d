import type { Disturbances } from '../evidence/disturbances'
import { SPECS } from '../plan/catalogue'

/** Whether the server may have lost what it had confirmed since that moment (µs): nothing can be judged by it then. */
export function lostDataSince({ all }: Disturbances, since: number, now: number): boolean {
  return all.some(({ kind, from, to }) => SPECS[kind].losesData && from <= now && to >= since)
}
