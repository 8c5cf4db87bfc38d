import type { RedissonOptions } from '../../../src/index'

/** What the process that holds a lock is ordered to do. */
export type Order =
  | { readonly do: 'hold'; readonly hold: HoldOrder }
  /** Nothing of the process runs for so long: no timer, no socket. */
  | { readonly do: 'block'; readonly ms: number }
  /** Its wall clock is set by so much. */
  | { readonly do: 'set-wall-clock'; readonly by: number }
  | { readonly do: 'unlock' }
  | { readonly do: 'end' }

export interface HoldOrder {
  readonly redis: RedissonOptions['redis']
  readonly name: string
  /** ms */
  readonly lease: number
  /** Held by a lease of its own instead of by the watchdog. */
  readonly explicit: boolean
}

/** What it tells; `at` is a moment on the machine's monotonic clock, in ms. */
export type Reported =
  | { readonly reported: 'ready' }
  | { readonly reported: 'held' | 'signal' | 'not held' | 'ended'; readonly at: number }
  /** It could not run for a while; the very first thing it did then was to read `isHeld`. */
  | { readonly reported: 'woke'; readonly at: number; readonly isHeld: boolean }

/** Milliseconds on CLOCK_MONOTONIC, which all processes of a machine share. */
export function machineNow(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
