// The timers are read at import, so that fake timers that a user installs later stop neither renewals nor
// writes. Node's own modules have them, too, and there Jest and jsdom replace nothing.
import { performance } from 'node:perf_hooks'
import timers from 'node:timers'
import { processState } from '../ownership/process-state'

export const { now: dateNow } = Date
export const { clearTimeout, setTimeout } = timers

/**
 * Jest with `enableGlobally` makes these two fake before the import, and they are in no module of Node. Fake
 * functions have a `clock`. A promise is never fake.
 */
const settled = Promise.resolve()
const microtask = (callback: () => void): void => void settled.then(callback)
export const nextTick = 'clock' in process.nextTick ? microtask : process.nextTick.bind(process)
export const queueMicrotask =
  'clock' in globalThis.queueMicrotask ? microtask : globalThis.queueMicrotask.bind(globalThis)

const { setImmediate: realImmediate } = timers

/** Calls back once the events that are due now have been handled. */
export function setImmediate(callback: () => void): void {
  const { simulated } = processState
  if (simulated) simulated.immediate(callback)
  else realImmediate(callback)
}

/** Monotonic time in ms. */
export const performanceNow = performance.now.bind(performance)
