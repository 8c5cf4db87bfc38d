import { fillRegions } from '../../../test/kit/docs/regions'
import { MOST_EVENTS } from '../run-schedule'
import { type Results, readResults } from './results'

const PAGE = 'docs/evidence/reliability.md'

/** Puts what was kept into its table of the page. Returns the exit code. */
export function writePage(): number {
  const results = readResults()
  if (results.search.schedules === 0) {
    console.error('nothing was kept: first run npm run simulate -- --minutes 60 --keep')
    return 2
  }
  fillRegions(PAGE, 'simulator', () => table(results))
  console.log(`written: ${PAGE}`)
  return 0
}

/** The table of what all kept runs tried and found. */
export function table({ search, worlds, mutants }: Results): string {
  const every = Object.values(worlds)
  const complete = every.filter((world) => world.complete !== undefined)
  const sum = (of: (world: (typeof every)[number]) => number) =>
    every.reduce((total, world) => total + of(world), 0)
  const all = Object.values(mutants)
  const caught = all.filter((schedules) => schedules !== null)
  const rows: readonly (readonly [string, string])[] = [
    [`schedules (the last run: \`${search.command}\`)`, number(search.schedules)],
    ['critical sections', number(search.sections)],
    ['virtual time', duration(search.virtualMs)],
    ['faults injected', number(search.faults)],
    [`schedules with more than ${number(MOST_EVENTS)} events, judged up to there`, number(search.cut)],
    ['**violations**', `**${number(search.violations)}**`],
    ['small worlds, of which every order was run', `${complete.length} of ${every.length}`],
    ['their states', number(sum(({ states }) => states))],
    ['**violations in small worlds**', `**${number(sum(({ violations }) => violations))}**`],
    ['mutants that were caught', `${caught.length} of ${all.length}`],
  ]
  return ['| | |', '| --- | --: |', ...rows.map((cells) => `| ${cells.join(' | ')} |`)].join('\n')
}

const number = (value: number) => value.toLocaleString('en-US')

function duration(ms: number): string {
  const days = ms / 86_400_000
  if (days >= 365) return `${(days / 365).toFixed(1)} years`
  if (days >= 1) return `${days.toFixed(1)} days`
  return days * 24 >= 1 ? `${(days * 24).toFixed(1)} hours` : `${(days * 1440).toFixed(1)} minutes`
}
