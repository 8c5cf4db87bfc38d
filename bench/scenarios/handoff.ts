import { measureHandoff } from '../driver/handoff'
import type { Subject } from '../subjects/catalogue'
import type { Figures, Scenario, Trouble } from './scenario'

/** Long enough that the next caller sleeps; those that are notified of a release need no more. */
const HOLD = 20

/** Those that poll must come by within the time the last holder stays away, half a hold: or it would be in again. */
const holding = ({ longestPollMs = 0 }: Subject) => ({
  holdMs: Math.max(HOLD, Math.ceil(2.2 * longestPollMs)),
  jitterMs: longestPollMs,
})

export const handoff: Scenario = {
  name: 'handoff',
  title: 'From release to the next holder inside, between two processes',
  columns: [
    'handoffP50Ms',
    'handoffP99Ms',
    'handoffRoundTrips',
    'ofJavaHandoff',
    'toJavaP50Ms',
    'fromJavaP50Ms',
    'roundTripMs',
  ],
  mostRounds: { quick: 1, full: 3 },
  takesPart: (subject, quick) => subject.kind !== 'limit' && !(quick && subject.resembles),
  async measure(subject, measuring) {
    const own = await measureHandoff(subject, subject, holding(subject), measuring)
    const java = subject.kind === 'this' ? measuring.subjectNamed('java') : undefined
    if (!java) return named(own)
    const mixed = await measureHandoff(subject, java, holding(subject), measuring)
    const { figures, troubles } = named(own)
    return {
      figures: {
        ...figures,
        toJavaP50Ms: mixed.toOther.p50,
        toJavaP99Ms: mixed.toOther.p99,
        fromJavaP50Ms: mixed.fromOther.p50,
        fromJavaP99Ms: mixed.fromOther.p99,
      },
      troubles: [...troubles, ...mixed.troubles],
    }
  },
}

function named(own: Awaited<ReturnType<typeof measureHandoff>>): { figures: Figures; troubles: Trouble[] } {
  const { both, roundTripMs, troubles } = own
  return {
    figures: {
      handoffP50Ms: both.p50,
      handoffP99Ms: both.p99,
      handoffRoundTrips: both.p50 / roundTripMs,
      handoffs: both.count,
      roundTripMs,
    },
    troubles: [...troubles],
  }
}
