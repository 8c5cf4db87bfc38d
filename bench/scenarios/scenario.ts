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

/** What is measured beside the others of its scenario. */
export interface Arm {
  readonly name: string
  readonly title: string
  readonly runsOn: Subject['runsOn']
  measure(measuring: Measuring): Promise<Measured>
}

export interface Scenario {
  readonly name: string
  readonly title: string
  /** In tables, in this order. */
  readonly columns: readonly string[]
  /** Of `--objects`: its arms are objects and not libraries. */
  readonly isOfObjects?: true
  /** No more rounds than that, for what takes long and differs little. */
  readonly mostRounds?: { readonly quick: number; readonly full: number }
  /** Each round measures all of them, in an order of its own. */
  arms(subjects: readonly Subject[], quick: boolean): readonly Arm[]
}
