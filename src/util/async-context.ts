import { AsyncResource } from 'node:async_hooks'
import { processState } from '../ownership/process-state'

/** The async context of the import, which is no request's, without the logical thread that may have imported us. */
const ours = processState.threads.run(undefined, () => new AsyncResource('RLOCK'))

/**
 * Runs `fn` in the async context of no request and outside any logical thread. Timers and connections are created
 * here: they outlive the request that needs them first, and would keep its context alive and call back in it.
 */
export function outsideRequests<A extends unknown[], T>(fn: (...args: A) => T, ...args: A): T {
  return ours.runInAsyncScope(fn, undefined, ...args)
}

/** A function that runs `fn` in the async context of this moment, but outside any logical thread. */
export function inThisContext<A extends unknown[], T>(fn: (...args: A) => T): (...args: A) => T {
  const here = processState.threads.run(undefined, () => new AsyncResource('RLOCK'))
  return (...args) => here.runInAsyncScope(fn, undefined, ...args)
}
