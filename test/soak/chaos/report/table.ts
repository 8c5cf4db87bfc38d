import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { THEMES } from '../../../../packages/cli/src/page/timeline'
import { drawTimeline } from '../../../../tools/simulator/story/timeline'
import { emptyTally, type FaultTally } from '../evidence/tally'
import type { Violation } from '../evidence/violations'
import { FAULTS, type FaultKind } from '../plan/catalogue'
import { count, type Figures, markdownTable } from './markdown'

const HEAD = [
  'fault',
  'times',
  'sections',
  'violations',
  'losses reported',
  'excused',
  'worst wake-up',
  'kept unused',
  'shortest lead',
  'worst after waking',
]

/** The figures of one run or of several, fault by fault, in Markdown. */
export function table(runs: readonly Figures[]): string {
  const kinds = [...(Object.keys(FAULTS) as FaultKind[]), 'none']
  const rows = kinds.flatMap((kind) => {
    const tallies = runs.flatMap(({ byFault }) => byFault[kind] ?? [])
    return tallies.length === 0 ? [] : [row(kind, sum(tallies))]
  })
  const total = sum(runs.flatMap(({ byFault }) => Object.values(byFault)))
  return markdownTable([HEAD, ...rows, row('**all**', total)])
}

function row(name: string, tally: FaultTally): string[] {
  const excused = Object.entries(tally.excused).map(([reason, times]) => `${times} ${reason}`)
  return [
    name,
    ...[tally.injected, tally.sections, tally.violations, tally.losses].map(count),
    excused.join(', ') || '0',
    duration(tally.worstWakeUp),
    duration(tally.keptUnused),
    duration(tally.shortestLead),
    duration(tally.worstNoticeAfterWaking),
  ]
}

function sum(tallies: readonly FaultTally[]): FaultTally {
  const all = emptyTally()
  for (const one of tallies) {
    all.injected += one.injected
    all.sections += one.sections
    all.violations += one.violations
    all.losses += one.losses
    all.worstWakeUp = Math.max(all.worstWakeUp, one.worstWakeUp)
    all.keptUnused = Math.max(all.keptUnused, one.keptUnused)
    all.shortestLead = least(all.shortestLead, one.shortestLead, Math.min)
    all.worstNoticeAfterWaking = least(all.worstNoticeAfterWaking, one.worstNoticeAfterWaking, Math.max)
    for (const [reason, times] of Object.entries(one.excused) as ['forgotten', number][])
      all.excused[reason] = (all.excused[reason] ?? 0) + times
  }
  return all
}

function least(a: number | undefined, b: number | undefined, choose: (a: number, b: number) => number) {
  if (a === undefined) return b
  return b === undefined ? a : choose(a, b)
}

/** JSON has no undefined: what is missing there is null here. */
function duration(ms: number | undefined | null): string {
  if (ms === undefined || ms === null) return '–'
  return ms >= 10_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms)} ms`
}

const MOST_DRAWN = 5

/** Draws the first violations that the records show, in both themes. Returns the files. */
export function writeDrawings(folder: string, run: string, violations: readonly Violation[]): string[] {
  const drawn = violations.flatMap(({ shown }) => shown ?? []).slice(0, MOST_DRAWN)
  if (drawn.length === 0) return []
  mkdirSync(folder, { recursive: true })
  return drawn.flatMap(({ history, violation }, index) =>
    THEMES.map((theme) => {
      const file = join(folder, `${run}-${index + 1}-${violation.rule}-${theme.name}.svg`)
      writeFileSync(file, drawTimeline(history, violation, theme))
      return file
    }),
  )
}
