import type { Measuring } from '../driver/measuring'
import type { Subject } from '../subjects/catalogue'

/** What one measurement came to, by name; see report/columns.ts for what each name means. */
export type Figures = Readonly<Record<string, number>>

/** Why figures are not to be taken for an achievement. */
export interface Trouble {
  readonly kind: 'hangs' | 'starves' | 'lets two in' | 'errors' | 'failed'
  readonly text: string
}

export interface Measured {
  readonly figures: Figures
  readonly troubles: readonly Trouble[]
}

export interface Scenario {
  readonly name: string
  readonly title: string
  /** In tables, in this order. */
  readonly columns: readonly string[]
  /** No more rounds than that, for what takes long and differs little. */
  readonly mostRounds?: { readonly quick: number; readonly full: number }
  takesPart(subject: Subject, quick: boolean): boolean
  /** Why a subject that takes no part does not, where it is not for the want of being asked. */
  readonly absent?: Readonly<Record<string, string>>
  measure(subject: Subject, measuring: Measuring): Promise<Measured>
}
