import { neverInside } from '../holds'
import type { Call, Reading } from '../reading'
import type { Violation } from '../violation'

/** A client draws no token that is not greater than one that it has, whatever the server has forgotten (guarantee 4). */
function drawsAgain(before: Call, call: Call, reading: Reading): boolean {
  const { client } = call.called
  return client === before.called.client && !reading.javaClients.has(client) && before.end! < call.begin
}

/** The tokens of a fenced lock rise from one acquisition to the next, in the order in which callers come in. */
export function judgeTokens(reading: Reading): Violation[] {
  const last = new Map<string, Call>()
  const violations: Violation[] = []
  const calls = [...reading.calls.values()].filter(
    ({ returned, hold }) => returned?.token !== undefined && !(hold && neverInside(hold)),
  )
  for (const call of calls.sort((a, b) => a.end! - b.end!)) {
    const { name } = call.called.object
    const before = last.get(name)
    last.set(name, call)
    if (!before) continue
    const at = reading.timeOf(call.end!)
    if (call.returned!.token! > before.returned!.token!) continue
    // A client that is suspended comes in late with a token that the server drew long ago.
    const since = reading.timeOf(Math.min(before.begin, call.begin))
    // Java waits for no replica, so a failover may undo what it drew.
    const mayBeUndone = reading.javaClients.has(before.called.client)
    const isUndone = reading.faults.all.some(
      ({ forgets, rewinds, ...fault }) =>
        (forgets || (rewinds && mayBeUndone)) && fault.at >= since && fault.at <= at,
    )
    // Others came in before the answer to the one that was taken out arrived.
    const isTaken = reading.faults.excuses('force', { name }, since, at)
    if ((isUndone || isTaken) && !drawsAgain(before, call, reading)) continue
    violations.push({
      ...{ rule: 'token', at, name, events: [before.end!, call.end!] },
      what:
        `${call.called.client}/${call.called.caller} came into ${name} with the token ${call.returned!.token} after ` +
        `${before.called.client}/${before.called.caller} with ${before.returned!.token}`,
    })
  }
  return violations
}
