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
  readonly scenes: Map<string, SceneTotals>
}

export interface SceneTotals {
  readonly schedules: number
  readonly sections: number
  /** The sections whose processor time is known. */
  readonly timed?: number
  /** The processor time of these, in ms, with that of the judge. */
  readonly cpuMs?: number
}

export const newTotals = (): Totals => ({
  schedules: 0,
  sections: 0,
  violations: 0,
  virtualMs: 0,
  cut: 0,
  faults: new Map(),
  scenes: new Map(),
})

/** `cpuMs`: the processor time that it took, in ms, with that of the judge; 0 if it is not known. */
export function count(totals: Totals, outcome: Outcome, violated: boolean, cpuMs = 0): void {
  const { history, sections, virtualMs, faults } = outcome
  const timed = cpuMs > 0 ? sections : 0
  const scenes = new Map([[history.scene, { schedules: 1, sections, timed, cpuMs }]])
  const violations = violated ? 1 : 0
  const cut = outcome.isCut ? 1 : 0
  addTo(totals, { schedules: 1, sections, violations, virtualMs, cut, faults, scenes })
}

type Counted = Omit<Totals, 'faults' | 'scenes'> & {
  readonly faults: Iterable<readonly [kind: string, count: number]>
  readonly scenes: Iterable<readonly [name: string, counts: SceneTotals]>
}

export function addTo(totals: Totals, more: Counted): void {
  totals.schedules += more.schedules
  totals.sections += more.sections
  totals.violations += more.violations
  totals.virtualMs += more.virtualMs
  totals.cut += more.cut
  for (const [kind, faults] of more.faults) totals.faults.set(kind, (totals.faults.get(kind) ?? 0) + faults)
  for (const [name, counts] of more.scenes) totals.scenes.set(name, sum(totals.scenes.get(name), counts))
}

function sum(before: SceneTotals = { schedules: 0, sections: 0 }, more: SceneTotals): SceneTotals {
  return {
    schedules: before.schedules + more.schedules,
    sections: before.sections + more.sections,
    timed: (before.timed ?? 0) + (more.timed ?? 0),
    cpuMs: (before.cpuMs ?? 0) + (more.cpuMs ?? 0),
  }
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
