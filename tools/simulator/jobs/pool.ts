import { type ChildProcess, fork } from 'node:child_process'
import { explore, Priorities } from '../order/exhaustive'
import { smallWorlds } from '../order/small-worlds'
import type { ExhaustiveResult } from '../report/results'
import { runSchedule } from '../run-schedule'
import { scenes } from '../scenes'
import { count, type Finding, findingsOf, newTotals, type Totals } from '../totals'

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
    const outcome = await runSchedule(scene, seed, orderOf(task.depth, seed))
    const findings = findingsOf(outcome)
    count(totals, outcome, findings.length > 0)
    if (findings.length > 0) violated.push({ seed, scene: scene.name, findings })
  }
  return { totals, violated }
}

export const orderOf = (depth: number | undefined, seed: number) =>
  depth === undefined ? {} : { order: new Priorities(depth, seed) }

/** The first argument of a process that works for another one. */
export const WORKER = 'worker'

/**
 * Does tasks in so many processes, and in this one where one is enough. `next` gives the next task, and undefined when there is
 * none. `done` is told of each in the order of the tasks, whichever ended first: so what is printed does not depend on `jobs`.
 */
export async function inParallel(
  jobs: number,
  next: () => Task | undefined,
  done: (done: Done, task: Task) => void | Promise<void>,
): Promise<void> {
  if (jobs === 1) {
    for (let task = next(); task; task = next()) await done(await perform(task), task)
    return
  }
  const finished = new Map<number, readonly [Done, Task]>()
  let [given, told] = [0, 0]
  const work = async (perform: (task: Task) => Promise<Done>) => {
    for (let task = next(); task; task = next()) {
      const number = given++
      finished.set(number, [await perform(task), task])
      for (let first = finished.get(told); first; first = finished.get(told)) {
        finished.delete(told++)
        await done(...first)
      }
    }
  }
  const workers = Array.from({ length: jobs }, () =>
    fork(__filename, [WORKER], { serialization: 'advanced' }),
  )
  try {
    await Promise.all(workers.map((worker) => work((task) => ask(worker, task))))
  } finally {
    for (const worker of workers) worker.kill()
  }
}

function ask(worker: ChildProcess, task: Task): Promise<Done> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) => reject(new Error(`a worker ended with ${code}`))
    worker.once('exit', ended)
    worker.once('message', (answer) => {
      worker.off('exit', ended)
      resolve(answer as Done)
    })
    worker.send(task)
  })
}

/** Does what the process that started this one sends, until that one ends. */
export function workForParent(): void {
  process.on('message', (task) => {
    perform(task as Task).then(
      (answer) => process.send!(answer),
      (error) => {
        console.error(error)
        process.exit(2)
      },
    )
  })
  process.on('disconnect', () => process.exit())
}
