import { createHash } from 'node:crypto'
import type { Event } from '../../../packages/testing/src/simulation/timeline'
import { keptBy } from '../../../test/kit/left-in'
import type { HistoryEvent } from '../judge/history'
import type { Stage } from '../stage'

/** Times that differ by less are one state: the order of events matters, and their times do so only for leases. */
const GRAIN = 100

/**
 * What the world is at this moment, as a hash: the keys, the counts of each client, what is under way on each connection, what
 * each caller has seen, and the order of what is planned. Ids count by their first appearance.
 */
export function stateOf(stage: Stage, possible: readonly Event[], faults: string): string {
  const { servers, clients, recorder } = stage
  const text = [
    faults,
    ...servers.map((server) => {
      server.engine.keyspace.time = server.time
      return server.engine.keyspace.describe()
    }),
    ...clients.map(({ isAlive, redissons, java }) =>
      isAlive ? JSON.stringify(java?.stats() ?? redissons.map((redisson) => keptBy(redisson))) : 'dead',
    ),
    ...clients.flatMap(({ isAlive, links }) =>
      isAlive ? links.flatMap(({ commands, messages }) => [commands.describe(), messages.describe()]) : [],
    ),
    ...historyByCaller(recorder.events),
    possible.length,
  ].join('\n')
  return createHash('sha1').update(withoutChance(text)).digest('base64')
}

/** Each caller has its own order; that of two callers shows in what they see. */
function historyByCaller(events: readonly HistoryEvent[]): string[] {
  const callers = new Map<number, string>()
  const seen = new Map<string, string[]>()
  for (const event of events) {
    if (event.type === 'call') callers.set(event.id, `${event.client}/${event.object.kind}`)
    const id =
      'id' in event ? event.id : event.type === 'told' || event.type === 'act' ? event.hold : undefined
    const caller = id === undefined ? undefined : callers.get(id)
    if (caller === undefined) continue
    const lines = seen.get(caller) ?? []
    seen.set(caller, lines)
    lines.push(event.type, 'error' in event ? event.error : 'ok' in event ? String(event.ok) : '')
  }
  return [...seen].map(([caller, lines]) => `${caller} ${lines.join(' ')}`).sort()
}

function withoutChance(text: string): string {
  const ids = new Map<string, number>()
  return text
    .replace(/[0-9a-f-]{16,}/g, (id) => {
      if (!ids.has(id)) ids.set(id, ids.size)
      return `id${ids.get(id)}`
    })
    .replace(/\d{3,}(\.\d+)?/g, (number) => String(Math.round(Number(number) / GRAIN)))
}
