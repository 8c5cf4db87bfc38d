import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { BenchRun } from './driver/bench-run'
import type { Measurement } from './driver/rounds'
import { type Packed, pack, unpack } from './report/packed'
import { resultText } from './report/result-text'

/** A file was named that is of no use: the arguments are at fault, not the run. */
export class UnusableFile extends Error {}

/** What tells the measurements of a scenario apart. */
const KEYS = ['subject', 'round'] as const

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
    pack(
      run.measurements.filter(({ scenario }) => scenario === name),
      KEYS,
    ),
  ])
  writeFileSync(file, resultText({ ...run, measurements: Object.fromEntries(measurements) }))
}

export function readRun(file: string): BenchRun {
  const run = unpacked(parsed(file, textOf(file)))
  if (!isRun(run)) throw new UnusableFile(`${file} holds no results of this bench`)
  return run
}

/** As it was before it was written; anything else as it is. */
function unpacked(value: unknown): unknown {
  const { measurements } = (value ?? {}) as { measurements?: Readonly<Record<string, Packed>> }
  if (typeof measurements !== 'object') return value
  const all = Object.entries(measurements).flatMap(([scenario, packed]) =>
    unpack<Measurement>(packed, KEYS).map((one) => ({ ...one, scenario })),
  )
  return { ...(value as object), measurements: all }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new UnusableFile(`cannot read ${file}: ${(error as Error).message}`)
  }
}

function parsed(file: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new UnusableFile(`${file} holds no results of this bench`)
  }
}

function isRun(value: unknown): value is BenchRun {
  const { machine, versions, warmupSeconds, measurements, date, command } = (value ?? {}) as Partial<BenchRun>
  return (
    typeof command === 'string' &&
    typeof date === 'string' &&
    [machine, versions, warmupSeconds].every((part) => typeof part === 'object' && part !== null) &&
    Array.isArray(measurements) &&
    measurements.every(
      (one) => typeof one?.scenario === 'string' && one.figures && Array.isArray(one.troubles),
    )
  )
}
