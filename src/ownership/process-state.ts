import { AsyncLocalStorage } from 'node:async_hooks'

/** What the package takes of a simulation (tools/simulator) while it runs, and not of this process. */
export interface Simulated {
  /** From 0 up to 1. */
  random(): number
  /** Calls back after the events that are due now. */
  immediate(callback: () => void): void
}

export interface ProcessState {
  /** Set while an event of a simulation runs. */
  simulated?: Simulated | undefined
  /** The next thread id for the wire: the process uses each once. */
  nextThreadId: number
  /** The logical thread whose code runs; `logical-thread.ts` alone reads it. */
  readonly threads: AsyncLocalStorage<unknown>
}

// All copies of the package in the process share one state. (There may be two versions in node_modules, or a
// bundled copy and an installed one.) So thread ids never repeat, and a logical thread is the same in every
// copy.
const KEY = Symbol.for('rlock.process-state.v1')
const registry = globalThis as { [KEY]?: ProcessState }

registry[KEY] ??= { nextThreadId: 1, threads: new AsyncLocalStorage() }
export const processState: ProcessState = registry[KEY]
