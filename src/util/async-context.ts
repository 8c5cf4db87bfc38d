import { AsyncResource } from 'node:async_hooks'
import { processState } from '../ownership/process-state'

/**
 * Keeps an async context, and no process alive: tools that look for open handles (`jest --detectOpenHandles`)
 * ask.
 */
class KeptContext extends AsyncResource {
  constructor() {
    super('RLOCK')
  }

  hasRef(): boolean {
    return false
  }
}

/**
 * The async context in which this module was imported, without a logical thread. It belongs to no request.
 */
const ownResource = processState.threads.run(undefined, () => new KeptContext())

/**
 * Runs `fn` in an async context that belongs to no request, and outside any logical thread. Timers and
 * connections are created in it: they outlive the request that needs them first. Otherwise they would keep
 * its context alive, and call back in it.
 */
export function outsideRequests<A extends unknown[], T>(fn: (...args: A) => T, ...args: A): T {
  return ownResource.runInAsyncScope(fn, undefined, ...args)
}

/** Returns a function that runs `fn` in the async context of this moment, but outside any logical thread. */
export function inThisContext<A extends unknown[], T>(fn: (...args: A) => T): (...args: A) => T {
  const here = processState.threads.run(undefined, () => new KeptContext())
  return (...args) => here.runInAsyncScope(fn, undefined, ...args)
}
