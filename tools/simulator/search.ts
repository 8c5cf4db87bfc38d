import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { THEMES } from '../../packages/cli/src/page/timeline'
import { inParallel, orderOf, type Task } from './jobs/pool'
import type { SimulatorOptions } from './options'
import { worldsOf } from './order/small-worlds'
import { keepExhaustive, keepSearch, readResults } from './report/results'
import { runSchedule } from './run-schedule'
import type { Scene } from './scene'
import { explain } from './story/explain'
import { tell } from './story/text'
import { drawTimeline } from './story/timeline'
import { addTo, count, type Finding, findingsOf, lastLine, newTotals } from './totals'

const PROGRESS_EVERY = 5_000
/** What is kept is written so often, so that a search that is stopped has not run for nothing. */
const KEPT_EVERY = 60_000
const MOST_SHOWN = 5
/** Twice each scene: long enough for a process of its own, short enough to share the work well. */
const BATCH = 30

export async function search(options: SimulatorOptions): Promise<number> {
  const { scenes, seeds = Number.POSITIVE_INFINITY, minutes, depth, keeps } = options
  const before = readResults()
  const from = keeps && !options.isFromGiven ? before.search.next : options.from
  const totals = newTotals()
  const started = Date.now()
  const ends = minutes === undefined ? Number.POSITIVE_INFINITY : started + minutes * 60_000
  let [given, shown, kept] = [0, started, started]
  const next = (): Task | undefined => {
    if (given >= seeds || Date.now() >= ends) return undefined
    const [first, count] = [given, Math.min(BATCH, seeds - given)]
    given += count
    return { kind: 'schedules', scenes: scenes.map(({ name }) => name), from, first, count, depth }
  }
  await inParallel(options.jobs, next, (done) => {
    addTo(totals, done.totals)
    for (const { scene, seed, findings } of done.violated) show(scene, seed, findings, depth)
    const now = Date.now()
    if (keeps && now - kept >= KEPT_EVERY) {
      kept = now
      keepSearch(before, from, totals)
    }
    if (now - shown < PROGRESS_EVERY) return
    shown = now
    console.error(`${Math.round((now - started) / 1000)} s: ${lastLine(totals)}`)
  })
  if (keeps) keepSearch(before, from, totals)
  console.log(lastLine(totals))
  return totals.violations > 0 ? 1 : 0
}

/** Runs one schedule. */
export async function replay({ scenes, from, depth, shrinks }: SimulatorOptions): Promise<number> {
  const [scene] = scenes
  const outcome = await runSchedule(scene!, from, orderOf(depth, from))
  const findings = findingsOf(outcome)
  const totals = newTotals()
  count(totals, outcome, findings.length > 0)
  if (findings.length > 0) show(scene!.name, from, findings, depth)
  if (findings.length > 0 && shrinks) await story(scene!, from)
  console.log(`trace ${outcome.hash}`)
  console.log(lastLine(totals))
  return findings.length > 0 ? 1 : 0
}

/** Tells what happened with as few choices as possible, and draws it. */
async function story(scene: Scene, seed: number) {
  const progress = (left: number, runs: number) =>
    console.error(`${left} choices are left after ${runs} runs`)
  const { outcome, violation, needed, of, runs, isShortest } = await explain(scene, seed, progress)
  const more = isShortest ? '' : '; the time for more was over'
  console.log(`${needed} of ${of} choices are needed (${runs} runs${more})\n`)
  console.log(tell(outcome.history, violation, outcome.trace))
  for (const { message, stack } of outcome.mishaps) console.log(`${message}\n${stack}`)
  const folder = join('.tmp', 'simulator')
  mkdirSync(folder, { recursive: true })
  for (const theme of THEMES) {
    const file = join(folder, `${scene.name}-${seed}-${theme.name}.svg`)
    writeFileSync(file, drawTimeline(outcome.history, violation, theme))
    console.log(`drawn in ${file}`)
  }
}

function show(scene: string, seed: number, findings: readonly Finding[], depth: number | undefined) {
  const how = depth === undefined ? '--shrink' : `--pct ${depth}`
  console.log(
    `violation: seed ${seed}, scene ${scene} (npm run simulate -- --seed ${seed} --scene ${scene} ${how})`,
  )
  for (const { rule, at, what } of findings.slice(0, MOST_SHOWN))
    console.log(`  ${Math.round(at)} ms ${rule}: ${what}`)
  if (findings.length > MOST_SHOWN) console.log(`  and ${findings.length - MOST_SHOWN} more`)
}

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
