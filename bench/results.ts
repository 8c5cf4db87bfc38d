import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { BenchRun, Measurement } from './driver/run'
import type { Trouble } from './scenarios/scenario'

/** A file was named that is of no use: the arguments are at fault, not the run. */
export class UnusableFile extends Error {}

/** Measurements as a table: the names of the columns once, and a line for each measurement. */
interface Packed {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly (string | number | null | readonly Trouble[])[])[]
}

/** What pages, charts and targets have. */
const SHOWN = new Set([
  ...[
    'sectionsPerSecond',
    'waitP99Ms',
    'waitP99Turns',
    'leastCallerShare',
    'overtakenShare',
    'leastProcessShare',
  ],
  ...[
    'clientCommandsPerSection',
    'messagesPerSection',
    'handoffP50Ms',
    'handoffRoundTrips',
    'serverCpu',
    'clientCpu',
  ],
  ...['idleCommandsPerSecond', 'renewalCommandsPerSecond', 'lastP50Ms'],
])
const isShown = (name: string) => SHOWN.has(name) || /^(rateAt|commandsAt|least(Writer)?ShareAt)/.test(name)

/** Reported before anything is measured; what an earlier run left there stays until this one has figures. */
export function assertWritable(file: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true })
    closeSync(openSync(file, 'a'))
  } catch (error) {
    throw new UnusableFile(`cannot write ${file}: ${(error as Error).message}`)
  }
}

export function writeRun(file: string, run: BenchRun): void {
  const scenarios = [...new Set(run.measurements.map(({ scenario }) => scenario))]
  const measurements = scenarios.map((name) => [
    name,
    packed(run.measurements.filter(({ scenario }) => scenario === name)),
  ])
  writeFileSync(file, resultText({ ...run, measurements: Object.fromEntries(measurements) }))
}

function packed(measured: readonly Measurement[]): Packed {
  const names = [...new Set(measured.flatMap(({ figures }) => Object.keys(figures)))]
  const shown = names.filter(isShown)
  const rows = measured.map(({ subject, round, figures, troubles }) => [
    subject,
    round,
    ...shown.map((name) => figures[name] ?? null),
    ...(troubles.length > 0 ? [troubles] : []),
  ])
  return { columns: ['subject', 'round', ...shown], rows }
}

export function readRun(file: string): BenchRun {
  try {
    const run = JSON.parse(readFileSync(file, 'utf8'))
    const measurements = Object.entries(run.measurements as Record<string, Packed>).flatMap(([name, table]) =>
      unpacked(name, table),
    )
    return { ...run, measurements }
  } catch (error) {
    throw new UnusableFile(`${file} holds no results of this bench: ${(error as Error).message}`)
  }
}

function unpacked(scenario: string, { columns, rows }: Packed): Measurement[] {
  return rows.map((row) => {
    const [subject, round] = row as unknown as [string, number]
    const names = columns.slice(2)
    const figures = names.flatMap((name, at) => (row[at + 2] === null ? [] : [[name, row[at + 2]]]))
    const troubles = (row[columns.length] ?? []) as readonly Trouble[]
    return { scenario, subject, round, figures: Object.fromEntries(figures), troubles }
  })
}

/** Digits of a figure that is no whole number. The pages show fewer, and a ratio of two figures is still right to two. */
const DIGITS = 4

function rounded(_name: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(DIGITS)) : value
}

/** Results as they are kept: one line for each measurement, without digits that no page shows. */
export function resultText(results: object): string {
  return `${lines(results)}\n`
}

function lines(value: unknown): string {
  const isObject = typeof value === 'object' && value !== null
  if (Array.isArray(value) && typeof value[0] === 'object')
    return `[\n${value.map((item) => JSON.stringify(item, rounded)).join(',\n')}\n]`
  if (!isObject || !Object.values(value).some((inner) => typeof inner === 'object'))
    return JSON.stringify(value, rounded)
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined)
  return `{\n${entries.map(([name, inner]) => `${JSON.stringify(name)}: ${lines(inner)}`).join(',\n')}\n}`
}
