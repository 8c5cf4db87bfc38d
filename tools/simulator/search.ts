import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Time } from './judge/history'
import { judge } from './judge/judge'
import type { SimulatorOptions } from './options'
import { Priorities } from './order/priorities'
import { page } from './report/page'
import {
  type CalibratedMutant,
  type ExhaustiveResult,
  readResult,
  type SearchResult,
  writeResult,
} from './report/results'
import { type Outcome, runSchedule } from './run-schedule'
import type { Scene } from './scene'
import { explain } from './story/explain'
import { tell } from './story/text'
import { drawTimeline, TIMELINE_THEMES } from './story/timeline'

/** What is wrong in one run: found by the judge, or by the world itself. */
export interface Finding {
  readonly rule: string
  readonly at: Time
  readonly what: string
}

export function findingsOf({ history, mishaps }: Outcome): readonly Finding[] {
  const judged = judge(history).map(({ rule, at, name, what }) => ({ rule, at, what: `${name}: ${what}` }))
  return [...mishaps.map(({ at, message }) => ({ rule: 'mishap', at, what: message })), ...judged]
}

/** What many schedules did. */
export interface Totals {
  schedules: number
  sections: number
  violations: number
  virtualMs: number
  readonly faults: Map<string, number>
  readonly scenes: Map<string, { schedules: number; sections: number }>
}

export const newTotals = (): Totals => ({
  schedules: 0,
  sections: 0,
  violations: 0,
  virtualMs: 0,
  faults: new Map(),
  scenes: new Map(),
})

export function count(totals: Totals, outcome: Outcome, violated: boolean): void {
  totals.schedules++
  totals.sections += outcome.sections
  totals.virtualMs += outcome.virtualMs
  if (violated) totals.violations++
  const scene = totals.scenes.get(outcome.history.scene) ?? { schedules: 0, sections: 0 }
  totals.scenes.set(outcome.history.scene, scene)
  scene.schedules++
  scene.sections += outcome.sections
  for (const [kind, faults] of outcome.faults)
    totals.faults.set(kind, (totals.faults.get(kind) ?? 0) + faults)
}

export function lastLine({ schedules, sections, violations, faults }: Totals): string {
  const injected = [...faults.values()].reduce((sum, each) => sum + each, 0)
  return `${schedules} schedules, ${sections} sections, ${injected} faults injected, ${violations} violations`
}

const PROGRESS_EVERY = 5_000
const MOST_SHOWN = 5
const PAGE = 'docs/evidence/simulation.md'

export async function search(options: SimulatorOptions): Promise<number> {
  const { scenes, from, seeds, minutes } = options
  const totals = newTotals()
  const started = Date.now()
  const ends = minutes === undefined ? Number.POSITIVE_INFINITY : started + minutes * 60_000
  let shown = started
  for (let index = 0; index < (seeds ?? Number.POSITIVE_INFINITY) && Date.now() < ends; index++) {
    const scene = scenes[index % scenes.length]!
    const seed = from + index
    const outcome = await runSchedule(scene, seed, orderOf(options.depth, seed))
    const findings = findingsOf(outcome)
    count(totals, outcome, findings.length > 0)
    if (findings.length > 0) await show(scene, seed, findings, options.depth)
    if (Date.now() - shown < PROGRESS_EVERY) continue
    shown = Date.now()
    const seconds = Math.round((shown - started) / 1000)
    console.error(`${seconds} s: ${lastLine(totals)}`)
  }
  if (options.keeps) keep(totals, from, (Date.now() - started) / 1000)
  console.log(lastLine(totals))
  return totals.violations > 0 ? 1 : 0
}

function keep(totals: Totals, from: number, seconds: number) {
  const { scenes, faults, ...counts } = totals
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
  const result: SearchResult = {
    ...{
      commit,
      command: `npm run simulate -- ${process.argv.slice(2).join(' ')}`,
      from,
      seconds: Math.round(seconds),
    },
    ...counts,
    scenes: Object.fromEntries(scenes),
    faults: Object.fromEntries(faults),
  }
  writeResult('search', result)
}

/** Writes the page from what was kept. */
export function writePage(scenes: readonly Scene[]): number {
  const search = readResult<SearchResult>('search')
  if (!search) {
    console.error('nothing was kept: first run npm run simulate -- --minutes 60 --keep')
    return 2
  }
  const text = page({
    search,
    mutants: readResult<CalibratedMutant[]>('mutants'),
    exhaustive: readResult<ExhaustiveResult[]>('exhaustive'),
    about: new Map(scenes.map(({ name, about }) => [name, about])),
  })
  writeFileSync(PAGE, text)
  console.log(`written: ${PAGE}`)
  return 0
}

/** Runs one schedule. */
export async function replay(options: SimulatorOptions): Promise<number> {
  const [scene] = options.scenes
  const outcome = await runSchedule(scene!, options.from, orderOf(options.depth, options.from))
  const findings = findingsOf(outcome)
  const totals = newTotals()
  count(totals, outcome, findings.length > 0)
  if (findings.length > 0) await show(scene!, options.from, findings, options.depth)
  if (findings.length > 0 && options.shrinks) await story(scene!, options.from)
  console.log(`trace ${outcome.hash}`)
  console.log(lastLine(totals))
  return findings.length > 0 ? 1 : 0
}

/** Tells what happened with as few choices as possible, and draws it. */
async function story(scene: Scene, seed: number) {
  const { outcome, violation, needed, of, runs } = await explain(scene, seed)
  console.log(`${needed} of ${of} choices are needed (${runs} runs)\n`)
  console.log(tell(outcome.history, violation, outcome.trace))
  for (const { message, stack } of outcome.mishaps) console.log(`${message}\n${stack}`)
  const folder = join('.tmp', 'simulator')
  mkdirSync(folder, { recursive: true })
  for (const theme of TIMELINE_THEMES) {
    const file = join(folder, `${scene.name}-${seed}-${theme.name}.svg`)
    writeFileSync(file, drawTimeline(outcome.history, violation, theme))
    console.log(`drawn in ${file}`)
  }
}

const orderOf = (depth: number | undefined, seed: number) =>
  depth === undefined ? {} : { order: new Priorities(depth, seed) }

async function show(scene: Scene, seed: number, findings: readonly Finding[], depth: number | undefined) {
  const how = depth === undefined ? '--shrink' : `--pct ${depth}`
  console.log(
    `violation: seed ${seed}, scene ${scene.name} (npm run simulate -- --seed ${seed} --scene ${scene.name} ${how})`,
  )
  for (const { rule, at, what } of findings.slice(0, MOST_SHOWN))
    console.log(`  ${Math.round(at)} ms ${rule}: ${what}`)
  if (findings.length > MOST_SHOWN) console.log(`  and ${findings.length - MOST_SHOWN} more`)
}
