import type { Place } from '../driver/measuring'
import { sum } from '../driver/server-counts'
import type { Command } from '../driver/worker-process'
import { SUBJECTS } from '../subjects/catalogue'
import type { CallersResult } from '../worker/protocol'

/** What a part measures with. */
export interface Surroundings {
  readonly single: Place
  readonly node: Command
  readonly onProgress: (text: string) => void
}

export const RLOCK = SUBJECTS.find(({ kind }) => kind === 'this')!

const WINDOW = 2_000
const WARM_UP = 1_000

/** So many warm up in that time on a small machine. */
const FEW_PROCESSES = 4

/** For `runCallers`. */
export function callersMeasuring({ node }: Surroundings) {
  return {
    command: () => node,
    warmupMs: (_: unknown, processes = 1) => WARM_UP * Math.max(1, processes / FEW_PROCESSES),
    measureMs: WINDOW,
  }
}

/** What all processes did together, a second. */
export function ratesOf(results: readonly CallersResult[]): { sections: number; clientCpu: number } {
  const perSecond = (values: readonly number[]) => sum(values) / (WINDOW / 1_000)
  return {
    sections: perSecond(results.map(({ sections }) => sections)),
    clientCpu: perSecond(results.map(({ cpuSeconds }) => cpuSeconds ?? Number.NaN)),
  }
}

/** A part whose figures come from work that failed is worth nothing. */
export function assertSound(results: readonly CallersResult[]): void {
  const failed = results.find(({ errors }) => errors > 0)
  if (failed) throw new Error(`${failed.errors} calls failed: ${failed.errorMessages?.[0]}`)
  if (results.some(({ violations }) => violations > 0)) throw new Error('two were inside at once')
}
