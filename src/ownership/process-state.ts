import { AsyncLocalStorage } from 'node:async_hooks'

interface ProcessState {
  nextThreadId: number
  /** The logical thread whose code runs; `logical-thread.ts` alone reads it. */
  readonly threads: AsyncLocalStorage<unknown>
}

// One state for every copy of the package in the process (two versions in node_modules, a bundled copy
// beside an installed one): thread ids must never repeat, and a logical thread is one through all of them.
const KEY = Symbol.for('rlock.process-state.v1')
const registry = globalThis as { [KEY]?: ProcessState }

registry[KEY] ??= { nextThreadId: 1, threads: new AsyncLocalStorage() }
export const processState: ProcessState = registry[KEY]

/** A thread id for the wire that this process has never used and never will again. */
export function newThreadId(): number {
  return processState.nextThreadId++
}
