import { type Finding, findingsOf } from '../findings'
import { explore } from '../order/exhaustive'
import { Priorities } from '../order/priorities'
import { smallWorlds } from '../order/small-worlds'
import type { ExhaustiveResult } from '../report/results'
import { runSchedule } from '../run-schedule'
import { scenes } from '../scenes'
import { count, newTotals, type Totals } from '../totals'

/** Schedules one after the other: seed after seed takes the next scene. */
export interface Batch {
  readonly kind: 'schedules'
  readonly scenes: readonly string[]
  /** The first seed of the whole search. */
  readonly from: number
  /** The first schedule of this batch. */
  readonly first: number
  readonly count: number
  readonly depth: number | undefined
}

/** All orders of one small world. */
export interface Exploration {
  readonly kind: 'orders'
  readonly world: string
  readonly most: number
}

export type Task = Batch | Exploration

export interface Violated {
  readonly seed: number
  readonly scene: string
  readonly findings: readonly Finding[]
}

/** What a task did. */
export interface Done {
  readonly totals: Totals
  readonly violated: readonly Violated[]
  readonly explored?: ExhaustiveResult
}

export async function perform(task: Task): Promise<Done> {
  const totals = newTotals()
  if (task.kind === 'orders') {
    const world = smallWorlds.find(({ name }) => name === task.world)!
    return { totals, violated: [], explored: await explore(world, task.most, totals, true) }
  }
  const violated: Violated[] = []
  for (let index = task.first; index < task.first + task.count; index++) {
    const name = task.scenes[index % task.scenes.length]
    const scene = scenes.find((each) => each.name === name)!
    const seed = task.from + index
    const before = process.cpuUsage()
    const outcome = await runSchedule(scene, seed, orderOf(task.depth, seed))
    const findings = findingsOf(outcome)
    const { user, system } = process.cpuUsage(before)
    count(totals, outcome, findings.length > 0, (user + system) / 1_000)
    if (findings.length > 0) violated.push({ seed, scene: scene.name, findings })
  }
  return { totals, violated }
}

export const orderOf = (depth: number | undefined, seed: number) =>
  depth === undefined ? {} : { order: new Priorities(depth, seed) }
