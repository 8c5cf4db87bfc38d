import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { BenchRun } from './driver/bench-run'
import { resultText } from './report/result-text'

/** A file was named that is of no use: the arguments are at fault, not the run. */
export class UnusableFile extends Error {}

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
  writeFileSync(file, resultText(run))
}

export function readRun(file: string): BenchRun {
  const run = parsed(file, textOf(file))
  if (!isRun(run)) throw new UnusableFile(`${file} holds no results of this bench`)
  return run
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
