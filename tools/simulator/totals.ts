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
  readonly scenes: Map<string, { schedules: number; sections: number }>
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

export function count(totals: Totals, outcome: Outcome, violated: boolean): void {
  const { history, sections, virtualMs, faults } = outcome
  const scenes = new Map([[history.scene, { schedules: 1, sections }]])
  const violations = violated ? 1 : 0
  const cut = outcome.isCut ? 1 : 0
  addTo(totals, { schedules: 1, sections, violations, virtualMs, cut, faults, scenes })
}

type Counted = Omit<Totals, 'faults' | 'scenes'> & {
  readonly faults: Iterable<readonly [kind: string, count: number]>
  readonly scenes: Iterable<readonly [name: string, counts: { schedules: number; sections: number }]>
}

export function addTo(totals: Totals, more: Counted): void {
  totals.schedules += more.schedules
  totals.sections += more.sections
  totals.violations += more.violations
  totals.virtualMs += more.virtualMs
  totals.cut += more.cut
  for (const [kind, faults] of more.faults) totals.faults.set(kind, (totals.faults.get(kind) ?? 0) + faults)
  for (const [name, { schedules, sections }] of more.scenes) {
    const before = totals.scenes.get(name)
    totals.scenes.set(name, {
      schedules: (before?.schedules ?? 0) + schedules,
      sections: (before?.sections ?? 0) + sections,
    })
  }
}

export function lastLine({ schedules, sections, violations, faults }: Totals): string {
  const injected = [...faults.values()].reduce((sum, each) => sum + each, 0)
  return `${schedules} schedules, ${sections} sections, ${injected} faults injected, ${violations} violations`
}
