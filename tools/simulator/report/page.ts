import { writeFileSync } from 'node:fs'
import { MOST_EVENTS } from '../run-schedule'
import type { Scene } from '../scene'
import type { SceneTotals } from '../totals'
import { type Results, readResults, type SearchResult, together } from './results'

const PAGE = 'docs/evidence/simulation.md'

/** Writes the page from what was kept. Returns the exit code. */
export function writePage(scenes: readonly Scene[]): number {
  const results = readResults()
  if (results.runs.length === 0) {
    console.error('nothing was kept: first run npm run simulate -- --minutes 60 --keep')
    return 2
  }
  writeFileSync(PAGE, page(results, new Map(scenes.map(({ name, about }) => [name, about]))))
  console.log(`written: ${PAGE}`)
  return 0
}

/** docs/evidence/simulation.md. `about`: what each scene is about. */
export function page(results: Results, about: ReadonlyMap<string, string>): string {
  const { runs } = results
  const totals = together(runs)
  const faults = [...totals.faults].sort(([, a], [, b]) => b - a)
  const injected = faults.reduce((sum, [, count]) => sum + count, 0)
  // A pace is that of the code as it is.
  const newest = runs.filter(({ commit }) => commit === runs.at(-1)!.commit)
  const processSeconds = newest.reduce((sum, { seconds, jobs }) => sum + seconds * jobs, 0)
  const pace = together(newest)
  const scenes = [...totals.scenes].sort(
    ([one], [other]) => [...about.keys()].indexOf(one) - [...about.keys()].indexOf(other),
  )
  const parts = [
    `# Simulation

\`npm run simulate -- --page\` wrote this page from \`tools/simulator/results.json\`, where each run with \`--keep\` adds what it did.
Do not edit it.

Clients of the real TypeScript run the real Lua scripts in one process and in virtual time. One seed decides every delay, every
fault and every choice of a caller, so a run can be repeated. A judge looks at each history twice: by rules in virtual time
(\`tools/simulator/judge/rules/\`), and name by name against a sequential specification in the manner of Wing and Gong. Faults
excuse what [the guarantees](../guarantees.md#what-no-lock-on-redis-survives) list, and nothing else.

## Schedules

${table(
  ['command', 'commit', 'Node', 'from seed', 'schedules', 'sections', 'time', 'processes'],
  runs.map((run) => [
    ...[`\`${run.command}\``, run.commit, run.node ?? '–', number(run.from), number(run.schedules)],
    ...[number(run.sections), duration(run.seconds * 1000), String(run.jobs)],
  ]),
  3,
)}

All together:

| | |
| --- | --: |
| schedules | ${number(totals.schedules)} |
| critical sections | ${number(totals.sections)} |
| virtual time | ${duration(totals.virtualMs)} |
| faults injected | ${number(injected)} |
| violations | ${number(totals.violations)} |
| schedules with more than ${number(MOST_EVENTS)} events, judged up to there | ${number(totals.cut)} |
| sections a second, in each process, on the newest commit | ${number(Math.round(pace.sections / Math.max(1, processSeconds)))} |
| sections a second of processor time, on the newest commit | ${paceOf([...pace.scenes.values()])} |

## Scenes

${table(
  ['scene', 'what its callers use', 'schedules', 'sections', 'a second of processor time'],
  scenes.map(([name, counts]) => [
    ...[name, about.get(name) ?? '', number(counts.schedules), number(counts.sections)],
    paceOf(pace.scenes.has(name) ? [pace.scenes.get(name)!] : []),
  ]),
  2,
)}

## Faults

${table(
  ['fault', 'injected'],
  faults.map(([kind, count]) => [kind, number(count)]),
  1,
)}`,
    ...ordersOf(results),
    ...mutantsOf(results),
  ]
  return `${parts.join('\n\n')}\n`
}

/** Sections a second of processor time, of the runs that measured it. */
function paceOf(scenes: readonly SceneTotals[]): string {
  const timed = scenes.reduce((sum, scene) => sum + (scene.timed ?? 0), 0)
  const cpuMs = scenes.reduce((sum, scene) => sum + (scene.cpuMs ?? 0), 0)
  return cpuMs === 0 ? '–' : number(Math.round((timed / cpuMs) * 1_000))
}

function ordersOf({ exhaustive }: Results): string[] {
  if (exhaustive.length === 0) return []
  const rows = exhaustive.map(({ world, states, complete, violations }) => [
    ...[world, number(states)],
    ...[complete === undefined ? 'no' : `at most ${complete}`, number(violations)],
  ])
  return [
    `## Every order of small worlds

Two clients, one name, one section each, and at most two faults. Where the world says so, the second client is the model of Java's. ${commandsOf(exhaustive)}

${table(['world', 'states', 'every order with faults', 'violations'], rows, 1)}`,
  ]
}

function mutantsOf({ mutants }: Results): string[] {
  if (mutants.length === 0) return []
  const caught = mutants.filter(({ found }) => found).length
  const rows = mutants.map(({ name, row, what, schedules, found }) => [
    ...[name, row, what, found?.rule ?? '**not found**'],
    ...[found ? `${found.seed}, ${found.scene}` : '–', number(schedules)],
  ])
  return [
    `## Mutants

Each is one small edit of a script or a source file that brings a row of the [failure modes](../failure-modes.md) back. Schedules
run until the judge objects to one that the package as it stands passes. ${commandsOf(mutants)} It caught ${caught} of ${mutants.length}.

${table(['mutant', 'row', 'what is broken', 'found by', 'seed and scene', 'schedules'], rows, 5)}`,
  ]
}

function commandsOf(results: readonly Pick<SearchResult, 'command' | 'commit'>[]): string {
  const commands = new Set(results.map(({ command, commit }) => `\`${command}\` on commit ${commit}`))
  return `${[...commands].join(', ')}.`
}

function table(head: readonly string[], rows: readonly (readonly string[])[], firstNumber: number): string {
  const lines = [head, head.map((_, index) => (index >= firstNumber ? '--:' : '---')), ...rows]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

const number = (value: number) => value.toLocaleString('en-US')

function duration(ms: number): string {
  const days = ms / 86_400_000
  if (days >= 365) return `${(days / 365).toFixed(1)} years`
  if (days >= 1) return `${days.toFixed(1)} days`
  return days * 24 >= 1 ? `${(days * 24).toFixed(1)} hours` : `${(days * 1440).toFixed(1)} minutes`
}
