import { inParallel } from './jobs/pool'
import type { Task } from './jobs/task'
import type { SimulatorOptions } from './options'
import { smallWorlds } from './order/small-worlds'
import { type ExhaustiveResult, keepExhaustive } from './report/results'
import { addTo, lastLine, newTotals } from './totals'

/** Runs every order of each small world whose scene was asked for. */
export async function searchExhaustively({ scenes, seeds, jobs, keeps }: SimulatorOptions): Promise<number> {
  const totals = newTotals()
  const results: ExhaustiveResult[] = []
  const has = (name: string) => smallWorlds.some((world) => world.name === name)
  for (const { name } of scenes) if (!has(name)) console.log(`${name.padEnd(16)} has no small world`)
  const worlds = scenes.map(({ name }) => name).filter(has)
  const next = (): Task | undefined => {
    const world = worlds.shift()
    return world === undefined ? undefined : { kind: 'orders', world, most: seeds! }
  }
  await inParallel(Math.min(jobs, worlds.length), next, (done) => {
    addTo(totals, done.totals)
    const { world, states, complete, violations } = done.explored!
    results.push(done.explored!)
    const extent = complete === undefined ? 'not every order' : `every order with at most ${complete} faults`
    console.log(`${world.padEnd(16)} ${states} states, ${extent}, ${violations} violations`)
  })
  if (keeps) keepExhaustive(results)
  console.log(lastLine(totals))
  return totals.violations > 0 ? 1 : 0
}
