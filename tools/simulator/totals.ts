import type { Time } from './judge/history'
import { judge } from './judge/judge'
import type { Outcome } from './run-schedule'

/** What many schedules did. */
export interface Totals {
  schedules: number
  sections: number
  violations: number
  virtualMs: number
  /** Schedules that were judged only as far as they came. */
  cut: number
  readonly faults: Map<string, number>
}

export const newTotals = (): Totals => ({
  schedules: 0,
  sections: 0,
  violations: 0,
  virtualMs: 0,
  cut: 0,
  faults: new Map(),
})

export function count(totals: Totals, outcome: Outcome, violated: boolean): void {
  const { sections, virtualMs, faults } = outcome
  const violations = violated ? 1 : 0
  const cut = outcome.isCut ? 1 : 0
  addTo(totals, { schedules: 1, sections, violations, virtualMs, cut, faults })
}

type Counted = Omit<Totals, 'faults'> & {
  readonly faults: Iterable<readonly [kind: string, count: number]>
}

export function addTo(totals: Totals, more: Counted): void {
  totals.schedules += more.schedules
  totals.sections += more.sections
  totals.violations += more.violations
  totals.virtualMs += more.virtualMs
  totals.cut += more.cut
  for (const [kind, faults] of more.faults) totals.faults.set(kind, (totals.faults.get(kind) ?? 0) + faults)
}

export function lastLine({ schedules, sections, violations, faults }: Totals): string {
  const injected = [...faults.values()].reduce((sum, each) => sum + each, 0)
  return `${schedules} schedules, ${sections} sections, ${injected} faults injected, ${violations} violations`
}

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
