import type { Disturbances } from './disturbances'
import type { LockState } from './sections'

/** What was recorded of a lock last, and what was broken meanwhile, oldest first; times in ms since `first`. */
export function contextOf(lock: LockState, disturbances: Disturbances, first: number): string[] {
  const broken = disturbances.all.slice(-12).flatMap(({ kind, worker, from, to }) => [
    { at: from, text: `FAULT ${kind} ${worker ?? ''}` },
    { at: to, text: `FAULT ${kind} ${worker ?? ''} over` },
  ])
  return [...lock.recent, ...broken]
    .sort((a, b) => a.at - b.at)
    .map(({ at, text }) => `${Math.round((at - first) / 1000)} ${text}`)
}
