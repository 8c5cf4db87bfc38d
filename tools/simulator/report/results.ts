import { execFileSync } from 'node:child_process'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { addTo, newTotals, type SceneTotals, type Totals } from '../totals'

/** What the program found, beside the page that is written from it. From the root of the repository. */
const RESULTS = 'tools/simulator/results.json'

interface Source {
  readonly commit: string
  readonly command: string
  /** The version of Node, which decides the pace; absent in old results. */
  readonly node?: string
}

/** One run of many schedules. */
export interface SearchResult extends Source {
  readonly from: number
  /** How many processes. */
  readonly jobs: number
  readonly seconds: number
  readonly schedules: number
  readonly sections: number
  readonly violations: number
  readonly virtualMs: number
  readonly cut: number
  readonly scenes: Readonly<Record<string, SceneTotals>>
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
  readonly complete?: number | undefined
  readonly violations: number
}

/** What was kept of all runs. A later run adds to it. */
export interface Results {
  readonly runs: readonly SearchResult[]
  readonly exhaustive: readonly (Source & ExhaustiveResult)[]
  readonly mutants: readonly (Source & CalibratedMutant)[]
}

const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim()

/** The command of this process, its Node, and the commit whose sources it runs; with a plus where they differ from it. */
export function whatRuns(): Source {
  const changed = git('status', '--porcelain', '--', 'lua', 'src', 'packages', 'tools', `:!${RESULTS}`)
  const commit = `${git('rev-parse', '--short', 'HEAD')}${changed === '' ? '' : '+'}`
  const command = `npm run simulate -- ${process.argv.slice(2).join(' ')}`
  return { commit, command, node: process.version }
}

export function readResults(file = RESULTS): Results {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Results
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return { runs: [], exhaustive: [], mutants: [] }
    throw error
  }
}

function write(results: Results, file: string): void {
  writeFileSync(`${file}.new`, `${JSON.stringify(results, undefined, 2)}\n`)
  renameSync(`${file}.new`, file)
}

/** The first seed that no kept run had. */
export function nextSeed(file = RESULTS): number {
  return Math.max(1, ...readResults(file).runs.map(({ from, schedules }) => from + schedules))
}

/** Adds a run, or what it did since it was kept last. */
export function keepSearch(
  run: Source & Pick<SearchResult, 'from' | 'jobs' | 'seconds'>,
  { scenes, faults, ...counts }: Totals,
  file = RESULTS,
): void {
  const results = readResults(file)
  const others = results.runs.filter(({ from, command }) => from !== run.from || command !== run.command)
  const result = { ...run, ...counts, scenes: Object.fromEntries(scenes), faults: Object.fromEntries(faults) }
  write({ ...results, runs: [...others, result] }, file)
}

/** In the place of what was kept of the same worlds. */
export function keepExhaustive(worlds: readonly ExhaustiveResult[], file = RESULTS): void {
  const results = readResults(file)
  write({ ...results, exhaustive: replaced(results.exhaustive, worlds, ({ world }) => world) }, file)
}

/** In the place of what was kept of the same mutants. */
export function keepMutants(mutants: readonly CalibratedMutant[], file = RESULTS): void {
  const results = readResults(file)
  write({ ...results, mutants: replaced(results.mutants, mutants, ({ name }) => name) }, file)
}

function replaced<T>(
  before: readonly (Source & T)[],
  now: readonly T[],
  nameOf: (each: T) => string,
): readonly (Source & T)[] {
  const source = whatRuns()
  const names = new Set(now.map(nameOf))
  return [
    ...before.filter((each) => !names.has(nameOf(each))),
    ...now.map((each) => ({ ...source, ...each })),
  ].sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1))
}

/** What all runs did together. */
export function together(runs: readonly SearchResult[]): Totals {
  const totals = newTotals()
  for (const run of runs)
    addTo(totals, { ...run, faults: Object.entries(run.faults), scenes: Object.entries(run.scenes) })
  return totals
}
