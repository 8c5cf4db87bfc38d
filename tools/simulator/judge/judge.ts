import type { History } from './history'
import { Reading } from './reading'
import { judgeAnswers, judgeReleased, judgeRunOnce } from './rules/answers'
import { judgeExclusion, judgeTokens } from './rules/exclusion'
import { judgeLeftovers } from './rules/leftovers'
import { judgeLimits } from './rules/limits'
import { judgeLosses } from './rules/losses'
import { judgeArrivals, judgeFairPlaces, judgeLocalOrder } from './rules/order'
import { judgeOwners } from './rules/owners'
import { judgeLatches, judgePermits, judgeRates } from './rules/synchronizers'
import { judgeWaiting } from './rules/waiting'
import { checkSequentially } from './sequential/check'
import type { Violation } from './violation'

const RULES: readonly ((reading: Reading) => Violation[])[] = [
  ...[judgeExclusion, judgeTokens, judgePermits, judgeWaiting, judgeLocalOrder, judgeFairPlaces],
  ...[judgeArrivals, judgeOwners, judgeLatches, judgeReleased, judgeRates],
  ...[judgeLimits, judgeLosses, judgeAnswers, judgeRunOnce, judgeLeftovers, checkSequentially],
]

/** Looks at a history twice: rules in virtual time, and each name against its sequential specification. */
export function judge(history: History): readonly Violation[] {
  const reading = new Reading(history)
  return RULES.flatMap((rule) => rule(reading)).sort((a, b) => a.at - b.at)
}
