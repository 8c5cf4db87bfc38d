import type { ViolationKind } from '../evidence/violations'

/** What a judge of one object found; the time in µs. */
export interface Finding {
  readonly kind: ViolationKind
  readonly at: number
  readonly what: string
  readonly worker?: string | undefined
}
