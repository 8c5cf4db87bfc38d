import type { Called, Limits } from '../history'
import type { Reading } from '../reading'

/** The longest yield of a cohort (src/waiting/cohort.ts), after each of two releases that it may hear. */
const YIELD = 2 * 20
/** The longest pause of a spin lock by default, and its random part. */
const SPIN_PAUSE = 128
/** The first waiter of a token lock looks again within a second, and a jitter. */
const TOKEN_LOOK = 1_000
/** The places of one client are refreshed at every third of their allowance (5 s), which also finds a free lock. */
export const FAIR_REFRESH = 5_000 / 3
/** A place of a waiter that died lapses after its allowance, and the next refresh finds that. */
const FAIR_DEAD_PLACE = 5_000 + FAIR_REFRESH
/** A round of a multi lock waits for this long with members held, and pauses for this long after a failed one. */
const MULTI_ROUND = 40 + 64
/** Until a round has what it wants while others want some of it, too. */
const MULTI_ROUNDS = 10
/** One try of a red lock's round waits for so long, and pauses. */
const RED_ROUND = 400
/** Timers of a client end on whole ms, the answers of PTTL are whole ms. */
const ROUNDING = 3

/**
 * For how long, in virtual ms, an object may be free before a waiter with no fault comes in. Derived so:
 *
 * - A release publishes. Message, try and answer travel once each: 3 × latency. The subscription and the try after it may be under
 *   way: 2 round trips more. So 7 × latency for everything that is woken by a message.
 * - A lease that ends publishes nothing. The waiter sleeps for the TTL that it read. Its clock may be slow by the drift, and the
 *   answer travelled: + 3 × latency + drift × the longest lease.
 * - A process that released yields to its peers, for 20 ms at most after each release that it hears. A peer that was woken and has
 *   just given up lets the others wait for that: + 2 × 20 ms.
 * - What was granted to a waiter that gave up is released again: one more release, and its message. So everything counts twice.
 */
export function bound(reading: Reading, { object }: Called): number {
  const { limits } = reading.history
  const woken = 2 * (7 * limits.latency + leaseEnd(limits) + YIELD) + ROUNDING
  switch (object.kind) {
    case 'spin':
      return woken + 2 * SPIN_PAUSE
    case 'token':
      return woken + TOKEN_LOOK
    case 'fair':
    case 'non-reentrant-fair':
      // The lock goes to the head only. A head that died keeps its place for its allowance, one after the other.
      // A Java thread that leaves the head of a free lock publishes nothing: the next refresh finds that.
      return woken + queued(reading, object.name)
    case 'multi': {
      const members = object.members ?? []
      const fair = members.filter(({ kind }) => kind === 'fair').map(({ name }) => queued(reading, name))
      return woken * members.length + MULTI_ROUNDS * MULTI_ROUND + Math.max(0, ...fair)
    }
    case 'red':
      return woken * 2 + MULTI_ROUNDS * RED_ROUND
    default:
      return woken
  }
}

/** How long the queue of a fair lock may keep a waiter that is alive from a free lock. */
const queued = (reading: Reading, name: string) =>
  (reading.javaClients.size > 0 ? 2 * FAIR_REFRESH : 0) + deadPlaces(reading, name) * FAIR_DEAD_PLACE

/** By the name of the lock. Each waiter asks for it, and it looks at all calls. */
const counted = new WeakMap<Reading, Map<string, number>>()

function deadPlaces(reading: Reading, name: string): number {
  const counts = counted.get(reading) ?? new Map<string, number>()
  counted.set(reading, counts)
  const dead = counts.get(name) ?? countDeadPlaces(reading, name)
  counts.set(name, dead)
  return dead
}

const leaseEnd = ({ latency, drift, watchdogTimeout, longestLease }: Limits) =>
  3 * latency + drift * Math.max(watchdogTimeout, longestLease)

/**
 * Callers that waited for it, each of which may have left a place that lapses: their client was killed or suspended, also just
 * after they gave up, or they gave up while the server could not be told.
 */
function countDeadPlaces(reading: Reading, name: string): number {
  let dead = 0
  // The script that gives a place up may have to be sent a second time, with its text.
  const untold = 4 * reading.history.limits.latency
  for (const { called, begin, end, hold } of reading.calls.values()) {
    const { client, object, operation } = called
    const isOfIt = object.name === name || object.members?.some((member) => member.name === name)
    if (!isOfIt || operation !== 'acquire') continue
    const killed = reading.killedAt.get(client)
    const [from, to] = [reading.timeOf(begin), end === undefined ? reading.lastTime : reading.timeOf(end)]
    const isUntold =
      end !== undefined && !hold && reading.faults.excuses('errors', { client, name }, from, to)
    const untilTold = end === undefined ? Number.POSITIVE_INFINITY : hold ? 0 : to + untold
    const isDead = killed !== undefined && reading.timeOf(killed) <= untilTold
    if (isDead || isUntold || !reading.ran(client, from, to)) dead++
  }
  return dead
}
