/** Needs --expose-gc; what a finalizer lets go is collected by the second call only. */
export function heapAfterCollecting(): number {
  if (!globalThis.gc) throw new Error('the worker runs without --expose-gc')
  globalThis.gc()
  globalThis.gc()
  return process.memoryUsage().heapUsed
}
