import { inParallel } from './jobs/pool'
import type { Task } from './jobs/task'
import type { SimulatorOptions } from './options'
import { worldsOf } from './order/small-worlds'
import { keepExhaustive } from './report/results'
import { addTo, lastLine, newTotals } from './totals'

const WIDTH = 22

/** Runs every order of each small world whose scene was asked for. */
export async function searchExhaustively({ scenes, seeds, jobs, keeps }: SimulatorOptions): Promise<number> {
  const totals = newTotals()
  for (const { name } of scenes)
    if (worldsOf(name).length === 0) console.log(`${name.padEnd(WIDTH)} has no small world`)
  const worlds = scenes.flatMap(({ name }) => worldsOf(name))
  const next = (): Task | undefined => {
    const world = worlds.shift()
    return world === undefined ? undefined : { kind: 'orders', world, most: seeds! }
  }
  await inParallel(Math.min(jobs, worlds.length), next, (done) => {
    addTo(totals, done.totals)
    const { world, states, complete, violations } = done.explored!
    // Each at once, so that a search that is stopped has not run for nothing.
    if (keeps) keepExhaustive([done.explored!])
    const extent = complete === undefined ? 'not every order' : `every order with at most ${complete} faults`
    console.log(`${world.padEnd(WIDTH)} ${states} states, ${extent}, ${violations} violations`)
  })
  console.log(lastLine(totals))
  return totals.violations > 0 ? 1 : 0
}
