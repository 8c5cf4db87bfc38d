import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** What the program found last, beside the page that is written from it. */
export const RESULTS = 'tools/simulator/results'

/** One run of many schedules. */
export interface SearchResult {
  readonly commit: string
  readonly command: string
  readonly from: number
  readonly schedules: number
  readonly sections: number
  readonly violations: number
  readonly virtualMs: number
  readonly seconds: number
  readonly scenes: Readonly<Record<string, { readonly schedules: number; readonly sections: number }>>
  readonly faults: Readonly<Record<string, number>>
}

/** What became of one mutant. */
export interface CalibratedMutant {
  readonly name: string
  readonly row: string
  readonly what: string
  readonly schedules: number
  readonly sections: number
  readonly found?: {
    readonly seed: number
    readonly scene: string
    readonly rule: string
    readonly what: string
  }
}

/** All orders of one small world. */
export interface ExhaustiveResult {
  readonly world: string
  readonly states: number
  /** Every order with at most so many faults was run; undefined: not even without faults. */
  readonly complete: number | undefined
  readonly violations: number
}

export function writeResult(name: string, result: unknown): void {
  const file = join(RESULTS, `${name}.json`)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `${JSON.stringify(result, undefined, 2)}\n`)
}

/** Undefined where that part has not run yet. */
export function readResult<T>(name: string): T | undefined {
  try {
    return JSON.parse(readFileSync(join(RESULTS, `${name}.json`), 'utf8')) as T
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return undefined
    throw error
  }
}
