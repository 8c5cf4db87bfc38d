import type { SimulatedObject } from '../history'
import type { Reading } from '../reading'
import type { Violation } from '../violation'

/** At the end no key, channel, timer, listener or state is left (guarantee 7). */
export function judgeLeftovers({ end, history, javaClients }: Reading): Violation[] {
  if (!end) return []
  const leaks: { readonly name: string; readonly what: string }[] = []
  for (const { key, ttl, server } of end.keys)
    if (!mayStay(key, history.objects) && !(javaClients.size > 0 && ofFairQueue(key, history.objects)))
      leaks.push({
        name: key,
        what: `the key ${key}${server ? ` of ${server}` : ''} is left, with the TTL ${ttl}`,
      })
  for (const { channel, subscribers, server } of end.channels)
    leaks.push({
      name: channel,
      what: `${subscribers} listen to ${channel}${server ? ` of ${server}` : ''} at the end`,
    })
  for (const { client, left } of end.clients)
    for (const [what, count] of Object.entries(left))
      if (count !== 0) leaks.push({ name: client, what: `${client} has ${count} ${what} at the end` })
  return leaks.map(({ name, what }) => ({
    rule: 'left-over',
    at: end.at,
    name,
    what,
    events: [history.events.length - 1],
  }))
}

/** A Java thread whose call broke leaves its place. The next caller drops it, if there is one. */
const ofFairQueue = (key: string, objects: readonly SimulatedObject[]) =>
  objects.some(
    ({ kind, name }) =>
      kind === 'fair' && [`redisson_lock_queue:{${name}}`, `redisson_lock_timeout:{${name}}`].includes(key),
  )

/** What belongs to the object and not to an owner: the counter of tokens, the permits, what a latch has left. */
function mayStay(key: string, objects: readonly SimulatedObject[]): boolean {
  return objects.some(({ kind, name }) => {
    if (kind === 'fenced') return key === `redisson_lock_token:{${name}}`
    // Permits of a client that was killed stay until a call reclaims them.
    if (kind === 'permits' && key === `{${name}}:timeout`) return true
    // Kept for ten minutes after the last opening.
    if (kind === 'latch' && key === `rlock_requests:{${name}}:opened`) return true
    if (kind === 'semaphore' || kind === 'permits' || kind === 'latch') return key === name
    return false
  })
}
