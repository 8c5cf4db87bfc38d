import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { Totals } from '../totals'

/** What the program found, beside the page that has it as a table. From the root of the repository. */
const RESULTS = 'tools/simulator/results.json'

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
  readonly complete?: number | undefined
  readonly violations: number
}

/** The schedules of all runs that were kept, together. */
export interface KeptSchedules {
  readonly command: string
  /** The first seed that none of them had. */
  readonly next: number
  readonly schedules: number
  readonly sections: number
  readonly virtualMs: number
  readonly faults: number
  readonly violations: number
  /** Schedules that were judged only as far as they came. */
  readonly cut: number
}

export interface Results {
  readonly search: KeptSchedules
  /** By the names of the worlds. */
  readonly worlds: Readonly<Record<string, Omit<ExhaustiveResult, 'world'>>>
  /** By the names of the mutants: how many schedules it took to catch it, or null. */
  readonly mutants: Readonly<Record<string, number | null>>
}

const NONE: Results = {
  search: {
    ...{ command: '', next: 1, schedules: 0, sections: 0, virtualMs: 0 },
    ...{ faults: 0, violations: 0, cut: 0 },
  },
  worlds: {},
  mutants: {},
}

export function readResults(file = RESULTS): Results {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Results
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return NONE
    throw error
  }
}

/** A line for each part. */
function write(results: Results, file: string): void {
  const lines = Object.entries(results).map(([name, part]) => `"${name}": ${JSON.stringify(part)}`)
  writeFileSync(`${file}.new`, `{\n${lines.join(',\n')}\n}\n`)
  renameSync(`${file}.new`, file)
}

/** Adds a run to what was kept before it began. A run that is kept again takes its own place. */
export function keepSearch(before: Results, from: number, totals: Totals, file = RESULTS): void {
  const { search } = before
  const injected = [...totals.faults.values()].reduce((sum, each) => sum + each, 0)
  const kept: KeptSchedules = {
    command: `npm run simulate -- ${process.argv.slice(2).join(' ')}`,
    next: Math.max(search.next, from + totals.schedules),
    schedules: search.schedules + totals.schedules,
    sections: search.sections + totals.sections,
    virtualMs: Math.round(search.virtualMs + totals.virtualMs),
    faults: search.faults + injected,
    violations: search.violations + totals.violations,
    cut: search.cut + totals.cut,
  }
  write({ ...readResults(file), search: kept }, file)
}

/** In the place of what was kept of the same worlds. */
export function keepExhaustive(worlds: readonly ExhaustiveResult[], file = RESULTS): void {
  const results = readResults(file)
  const fresh = Object.fromEntries(worlds.map(({ world, ...found }) => [world, found]))
  write({ ...results, worlds: { ...results.worlds, ...fresh } }, file)
}

/** In the place of what was kept of the same mutants. */
export function keepMutants(mutants: readonly CalibratedMutant[], file = RESULTS): void {
  const results = readResults(file)
  const fresh = Object.fromEntries(
    mutants.map(({ name, schedules, found }) => [name, found ? schedules : null]),
  )
  write({ ...results, mutants: { ...results.mutants, ...fresh } }, file)
}
