import { endOf } from '../faults'
import type { FaultInjected, Time } from '../history'
import type { Hold } from '../holds'
import type { Reading } from '../reading'
import { ms, type Violation } from '../violation'

/** A new primary has what was released before its first answer, at most for so long, in ms, while the client lives (guarantee 4). */
const FREE_WITHIN = 1_000
/** A connection to the new primary is opened at the second try, or at the third. */
const CONNECTED_WITHIN = 500
/** They are the failover itself. */
const OF_A_FAILOVER = ['failover', 'promotion', 'replica behind', 'WAIT fails']

/** What its owner released is free on a new primary, unless other faults keep the client from it. */
export function judgeReleased(reading: Reading): Violation[] {
  return reading.faults.all
    .filter(({ rewinds }) => rewinds)
    .flatMap((failover) => {
      const at = failover.at + FREE_WITHIN + CONNECTED_WITHIN
      if (at > reading.lastTime || isDisturbed(reading, failover, at)) return []
      return reading.holds.flatMap((hold) => heldStill(reading, hold, failover.at, at))
    })
}

function isDisturbed(reading: Reading, failover: FaultInjected, to: Time): boolean {
  return reading.faults.all.some((fault) => {
    if (fault === failover || fault.at > to) return false
    if (fault.at > failover.at) return true
    return !OF_A_FAILOVER.includes(fault.kind) && endOf(fault) >= failover.at
  })
}

function heldStill(reading: Reading, hold: Hold, failover: Time, at: Time): Violation[] {
  const { call, fields, keys, releasedAt, ending } = hold
  const { client } = call
  if (ending !== 'released' || releasedAt === undefined || call.object.kind === 'red') return []
  if (reading.timeOf(releasedAt) > failover || reading.javaClients.has(client)) return []
  const gone = [reading.killedAt.get(client), reading.closedAt.get(client)]
  if (gone.some((index) => index !== undefined && reading.timeOf(index) <= at)) return []
  if (!reading.ran(client, failover, at)) return []
  return keys.flatMap((name) => {
    const fact = reading.keys.get(name)?.findLast(({ event }) => event.at <= at)
    const isHeld = fact?.event.owners.some((owner) => fields.includes(owner))
    if (!fact || !isHeld) return []
    const what =
      `${hold.owner} released ${name} ${ms(failover - reading.timeOf(releasedAt))} before a failover, and ${ms(at - failover)} after ` +
      'it the new primary has its hold still'
    return [{ rule: 'held-again', at, name, events: [releasedAt, fact.index], what }]
  })
}
