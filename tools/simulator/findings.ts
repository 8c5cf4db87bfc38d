import type { Time } from './judge/history'
import { judge } from './judge/judge'
import type { Outcome } from './run-schedule'

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
