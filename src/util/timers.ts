// Taken at import, so that fake timers a user installs later stop neither renewals nor writes. From Node's own modules
// where there is one: what Jest and jsdom put in the place of globals is not there.
import { performance } from 'node:perf_hooks'
import timers from 'node:timers'

export const { setTimeout, clearTimeout, setImmediate, setInterval, clearInterval } = timers
export const { now: dateNow } = Date
export const performanceNow = performance.now.bind(performance)
export const nextTick = process.nextTick.bind(process)
export const queueMicrotask = globalThis.queueMicrotask.bind(globalThis)
