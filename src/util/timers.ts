// The timers are read at import, so that fake timers that a user installs later stop neither renewals nor writes. Node's own modules have
// them, too, and there Jest and jsdom replace nothing.
import { performance } from 'node:perf_hooks'
import timers from 'node:timers'

export const { setTimeout, clearTimeout, setImmediate, setInterval, clearInterval } = timers
export const { now: dateNow } = Date
export const nextTick = process.nextTick.bind(process)
export const queueMicrotask = globalThis.queueMicrotask.bind(globalThis)

let now: (() => number) | undefined
/** Monotonic time in ms. `performance` is read at the first call and not at import, because Node loads it only then. */
export const performanceNow = (): number => {
  now ??= performance.now.bind(performance)
  return now()
}
