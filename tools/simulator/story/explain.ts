import { nameOf } from '../../../packages/testing/src/simulation/choices'
import { judge } from '../judge/judge'
import type { Violation } from '../judge/violation'
import { type Outcome, runSchedule } from '../run-schedule'
import type { Scene } from '../scene'
import { shrink } from './shrink'

export interface Explained {
  readonly outcome: Outcome
  readonly violation: Violation | undefined
  /** Choices that are needed, of so many that the run had. */
  readonly needed: number
  readonly of: number
  readonly runs: number
  /** False: the time for more was over. */
  readonly isShortest: boolean
}

/** Runs a schedule with as few choices as still break the same rule. */
export async function explain(
  scene: Scene,
  seed: number,
  progress?: (left: number, runs: number) => void,
): Promise<Explained> {
  const whole = await runSchedule(scene, seed, { isRecorded: true })
  const rule = ruleOf(whole)
  const names = whole.choices.map(nameOf)
  const without = (kept: readonly string[]) => {
    const keeps = new Set(kept)
    return new Set(names.filter((name) => !keeps.has(name)))
  }
  const happens = async (kept: readonly string[]) => {
    const outcome = await runSchedule(scene, seed, { leftOut: without(kept) })
    return rule !== undefined && rulesOf(outcome).includes(rule)
  }
  // The choices of one connection, or of one caller.
  const groupOf = (name: string) => name.slice(0, name.lastIndexOf('#'))
  const { needed, runs, isShortest } = await shrink(names, happens, {
    groupOf,
    ...(progress ? { progress } : {}),
  })
  const outcome = await runSchedule(scene, seed, { isRecorded: true, leftOut: without(needed) })
  const violation = judge(outcome.history).find((each) => each.rule === rule)
  return { outcome, violation, needed: needed.length, of: names.length, runs, isShortest }
}

const rulesOf = ({ history, mishaps }: Outcome): string[] => [
  ...judge(history).map(({ rule }) => rule as string),
  ...(mishaps.length > 0 ? ['mishap'] : []),
]

const ruleOf = (outcome: Outcome) => rulesOf(outcome)[0]
