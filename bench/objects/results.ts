import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Machine } from '../driver/machine'
import { type Packed, pack, unpack } from '../report/packed'
import { resultText } from '../report/result-text'
import type { Figures, Trouble } from '../scenarios/scenario'

/** One arm of a group in one round. */
export interface ArmMeasurement {
  readonly arm: string
  /** From 1. */
  readonly round: number
  readonly figures: Figures
  readonly troubles: readonly Trouble[]
}

/** One group of a run: each may be measured again without the others. */
export interface GroupResults {
  readonly command: string
  readonly date: string
  readonly machine: Machine
  readonly versions: Readonly<Record<string, string>>
  readonly rounds: number
  readonly seconds: number
  readonly measurements: readonly ArmMeasurement[]
}

/** By the names of the groups. */
export type ObjectsResults = Readonly<Record<string, GroupResults>>

/** What tells the measurements of a group apart. */
const KEYS = ['arm', 'round'] as const

/** A group as it stands in the file. */
type KeptGroup = Omit<GroupResults, 'measurements'> & { readonly measured: Packed }

/** Empty where nothing was measured yet. */
export function readResults(file: string): ObjectsResults {
  if (!existsSync(file)) return {}
  const kept = JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<string, KeptGroup>>
  const groups = Object.entries(kept).map(([name, { measured, ...group }]) => [
    name,
    { ...group, measurements: unpack<ArmMeasurement>(measured, KEYS) },
  ])
  return Object.fromEntries(groups)
}

export function writeResults(file: string, results: ObjectsResults): void {
  mkdirSync(dirname(file), { recursive: true })
  const groups = Object.entries(results).map(([name, { measurements, ...group }]) => [
    name,
    { ...group, measured: pack(measurements, KEYS) },
  ])
  writeFileSync(file, resultText(Object.fromEntries(groups)))
}
