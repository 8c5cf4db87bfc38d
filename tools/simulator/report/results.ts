import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { fillRegions } from '../../../test/kit/docs/regions'
import { MOST_EVENTS } from '../run-schedule'
import type { Totals } from '../totals'

/** What the program found, beside the page that has it as a table. From the root of the repository. */
const RESULTS = 'tools/simulator/results.json'

/** What became of one mutant. */
export interface CalibratedMutant {
  readonly name: string
  readonly schedules: number
  /** The first schedule with a violation. */
  readonly found?: { readonly seed: number; readonly scene: string; readonly rule: string }
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

const PAGES = ['docs/evidence/reliability.md', 'tools/simulator/README.md']

/** Puts what was kept into its table of the pages. Returns the exit code. */
export function writePage(): number {
  const results = readResults()
  if (results.search.schedules === 0) {
    console.error('nothing was kept: first run npm run simulate -- --minutes 60 --keep')
    return 2
  }
  for (const page of PAGES) fillRegions(page, 'simulator', () => table(results))
  console.log(`written: ${PAGES.join(', ')}`)
  return 0
}

/** The table of what all kept runs tried and found. */
export function table({ search, worlds, mutants }: Results): string {
  const every = Object.values(worlds)
  const complete = every.filter((world) => world.complete !== undefined)
  const sum = (of: (world: (typeof every)[number]) => number) =>
    every.reduce((total, world) => total + of(world), 0)
  const all = Object.values(mutants)
  const caught = all.filter((schedules) => schedules !== null)
  const rows: readonly (readonly [string, string])[] = [
    [`schedules (the last run: \`${search.command}\`)`, number(search.schedules)],
    ['critical sections', number(search.sections)],
    ['virtual time', duration(search.virtualMs)],
    ['faults injected', number(search.faults)],
    [`schedules with more than ${number(MOST_EVENTS)} events, judged up to there`, number(search.cut)],
    ['**violations**', `**${number(search.violations)}**`],
    ['small worlds, of which every order was run', `${complete.length} of ${every.length}`],
    ['their states', number(sum(({ states }) => states))],
    ['**violations in small worlds**', `**${number(sum(({ violations }) => violations))}**`],
    ['mutants that were caught', `${caught.length} of ${all.length}`],
  ]
  return ['| | |', '| --- | --: |', ...rows.map((cells) => `| ${cells.join(' | ')} |`)].join('\n')
}

const number = (value: number) => value.toLocaleString('en-US')

function duration(ms: number): string {
  const days = ms / 86_400_000
  if (days >= 365) return `${(days / 365).toFixed(1)} years`
  if (days >= 1) return `${days.toFixed(1)} days`
  return days * 24 >= 1 ? `${(days * 24).toFixed(1)} hours` : `${(days * 1440).toFixed(1)} minutes`
}
