import type { Reading } from '../reading'
import { ms, type Violation } from '../violation'

interface Grant {
  readonly permits: number
  readonly at: number
  readonly rate: number
  readonly interval: number
}

/** A rate limiter grants no more permits than its rate in any interval, by the clock of the server. A cancelled grant does not count. */
export function judgeRates(reading: Reading): Violation[] {
  return reading.history.objects
    .filter(({ kind }) => kind === 'rate-limiter')
    .flatMap(({ name }) => judgeRate(reading, name))
}

function judgeRate(reading: Reading, name: string): Violation[] {
  const grants = new Map<string, Grant>()
  for (const { event, index } of reading.keys.get(name) ?? []) {
    const there = new Map(event.owners.map(readGrant))
    // An acquisition also sweeps the grants whose interval is over. What any other command takes away was cancelled or lost.
    if (event.by?.[0] !== 'rate-limiter/acquire')
      for (const id of grants.keys()) if (!there.has(id)) grants.delete(id)
    for (const [id, grant] of there) {
      if (grants.has(id)) continue
      grants.set(id, grant)
      const { at, rate, interval } = grant
      const within = [...grants.values()].filter((each) => each.at > at - interval && each.at < at + interval)
      const taken = mostInOneInterval(within, interval)
      if (taken <= rate) continue
      const what = `${name} granted ${taken} permits within ${ms(interval)}, and its rate is ${rate}`
      return [{ rule: 'rate', at: event.at, name, what, events: [index] }]
    }
  }
  return []
}

function mostInOneInterval(grants: readonly Grant[], interval: number): number {
  const sums = grants.map(({ at: first }) =>
    grants
      .filter(({ at }) => at >= first && at < first + interval)
      .reduce((sum, { permits }) => sum + permits, 0),
  )
  return Math.max(0, ...sums)
}

/** As the watch of keys writes it. */
function readGrant(text: string): [id: string, grant: Grant] {
  const [id = '', permits, at, rate, interval] = text.split(' ')
  return [id, { permits: Number(permits), at: Number(at), rate: Number(rate), interval: Number(interval) }]
}
