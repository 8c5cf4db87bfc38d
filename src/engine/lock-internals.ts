/**
 * The names of what locks do for each other. They are symbols, so that a lock has no method by a string that
 * its type does not have. Private fields would fail behind a Proxy.
 */
export const ACQUIRE_FOR: unique symbol = Symbol('acquireFor')
export const HANDLE_OF: unique symbol = Symbol('handleOf')
export const RELEASE_LEVEL: unique symbol = Symbol('releaseLevel')
