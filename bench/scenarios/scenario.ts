import type { Measuring } from '../driver/measuring'
import type { Subject } from '../subjects/catalogue'

/** What one measurement came to, by name; see report/columns.ts for what each name means. */
export type Figures = Readonly<Record<string, number>>

export interface Measured {
  readonly figures: Figures
  /** Why the figures are not to be taken for an achievement: it hung, it failed, it let two in. */
  readonly troubles: readonly string[]
}

export interface Scenario {
  readonly name: string
  readonly title: string
  /** In tables, in this order. */
  readonly columns: readonly string[]
  takesPart(subject: Subject): boolean
  measure(subject: Subject, measuring: Measuring): Promise<Measured>
}
