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
import { checkCounters, checkSequentially } from './sequential/check'
import type { Violation } from './violation'

type Judgement = (reading: Reading) => Violation[]

const RULES: readonly Judgement[] = [
  ...[judgeExclusion, judgeTokens, judgePermits, judgeWaiting, judgeLocalOrder, judgeFairPlaces],
  ...[judgeArrivals, judgeOwners, judgeLatches, judgeReleased, judgeRates],
  ...[judgeLimits, judgeLosses, judgeAnswers, judgeRunOnce, judgeLeftovers, checkSequentially],
]

/** Looks at a history twice: rules in virtual time, and each name against its sequential specification. */
export const judge = (history: History): readonly Violation[] => judgeBy(RULES, new Reading(history))

/** The rules that hold where keys were looked at now and then, too. They take a part of a run, if calls under way are whole. */
const OF_LOOKS: readonly Judgement[] = [
  ...[judgeExclusion, judgeTokens, judgePermits, judgeWaiting, judgeLocalOrder, judgeFairPlaces],
  ...[judgeOwners, judgeLosses, judgeAnswers, judgeLeftovers],
]

/** `isWhole`: it has all calls of its counters from their begin on, so these are checked against their specifications. */
export function judgeLooks(reading: Reading, isWhole: boolean): readonly Violation[] {
  return judgeBy(isWhole ? [...OF_LOOKS, checkCounters] : OF_LOOKS, reading)
}

const judgeBy = (rules: readonly Judgement[], reading: Reading) =>
  rules.flatMap((rule) => rule(reading)).sort((a, b) => a.at - b.at)
