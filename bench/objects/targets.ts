import { type Spread, spreadOf } from '../driver/statistics'
import type { Figures } from '../scenarios/scenario'
import type { ObjectsResults } from './results'

/** What one arm came to in one round; undefined where it was not measured or failed. */
type OfArm = (arm: string, figure: string) => number | undefined

/** One row of the tables; the median over the rounds counts. */
export interface ObjectTarget {
  readonly object: string
  /** On the screen only: the page has no room for it. */
  readonly isDetail?: boolean
  readonly what: string
  readonly group: string
  readonly value: (of: OfArm) => number | undefined
  readonly atLeast?: number
  readonly atMost?: number
}

export interface JudgedTarget {
  readonly target: ObjectTarget
  readonly spread: Spread | undefined
  /** Undefined where it was not measured, or has no target. */
  readonly met: boolean | undefined
}

/** `figure` of one arm as a part of the same of another. */
export function ratio(arm: string, other: string, figure = 'sectionsPerSecond') {
  return (of: OfArm): number | undefined => {
    const [own, base] = [of(arm, figure), of(other, figure)]
    return own === undefined || !base ? undefined : own / base
  }
}

/** The same of the best of others: of that which has most of `best`. */
export function ratioToBest(arm: string, others: readonly string[], figure: string, best: string) {
  return (of: OfArm): number | undefined => {
    const measured = others.filter((other) => of(other, best) !== undefined)
    const [first] = measured.sort((a, b) => of(b, best)! - of(a, best)!)
    return first === undefined ? undefined : ratio(arm, first, figure)(of)
  }
}

export function figure(arm: string, name: string) {
  return (of: OfArm): number | undefined => of(arm, name)
}

export function judge(targets: readonly ObjectTarget[], results: ObjectsResults): JudgedTarget[] {
  return targets.map((target) => {
    const spread = spreadOf(valuesOf(target, results))
    const { atLeast = Number.NEGATIVE_INFINITY, atMost = Number.POSITIVE_INFINITY } = target
    const hasTarget = target.atLeast !== undefined || target.atMost !== undefined
    const met =
      spread && hasTarget ? rounded(spread.median) >= atLeast && rounded(spread.median) <= atMost : undefined
    return { target, spread, met }
  })
}

/** As the page shows it: a row must not say 0.90 and "missed" beside a target of 0.9. */
const rounded = (value: number) => Number(value.toFixed(2))

/** A value for each round in which all that it needs was measured. */
function valuesOf({ group, value }: ObjectTarget, results: ObjectsResults): number[] {
  const measured = results[group]
  if (!measured) return []
  return Array.from({ length: measured.rounds }, (_, index) => {
    const figures = new Map<string, Figures>()
    for (const one of measured.measurements) if (one.round === index + 1) figures.set(one.arm, one.figures)
    return value((arm, name) => {
      const found = figures.get(arm)?.[name]
      // JSON knows no NaN: such a figure comes back as null.
      return typeof found === 'number' && Number.isFinite(found) ? found : undefined
    })
  }).filter((value): value is number => value !== undefined)
}
