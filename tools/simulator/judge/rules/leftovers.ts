import type { SimulatedObject } from '../history'
import type { Reading } from '../reading'
import type { Violation } from '../violation'
import { FAIR } from './order'

/** At the end no key, channel, timer, listener or state is left (guarantee 7). */
export function judgeLeftovers(reading: Reading): Violation[] {
  const { end, history } = reading
  if (!end) return []
  const leaks: { readonly name: string; readonly what: string }[] = []
  for (const { key, ttl, server } of end.keys)
    if (!mayStay(key, history.objects) && !isDeadPlace(reading, key))
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

/** A place that lapsed is dropped by the next caller within so long, if there is one: the allowance, and a refresh. */
const LAPSED = 5_000 + 2_000

/**
 * The place of a client that was killed, or whose leave the server refused, too. A Java thread leaves no place where its call broke.
 * The next caller drops such a place. If there is none, it stays: Java counts on a queue without an expiry.
 */
function isDeadPlace(reading: Reading, key: string): boolean {
  const object = reading.history.objects.find(
    ({ kind, name }) =>
      FAIR.includes(kind) &&
      [`redisson_lock_queue:{${name}}`, `redisson_lock_timeout:{${name}}`].includes(key),
  )
  if (!object) return false
  if (reading.javaClients.size > 0) return true
  const acquired = [...reading.calls.values()].filter(
    ({ called }) => isOf(called.object, object.name) && called.operation === 'acquire',
  )
  const granted = acquired.flatMap(({ returned }) => (returned?.ok ? [returned.at] : []))
  const dead = acquired.flatMap(({ called: { client }, end, returned }) => {
    const killedAt = reading.killedAt.get(client)
    if (end === undefined) return killedAt === undefined ? [] : [reading.timeOf(killedAt)]
    const at = reading.timeOf(end)
    const mayStay = reading.faults.excuses('errors', { client, name: object.name }, at, at)
    return !returned?.ok && mayStay ? [at] : []
  })
  return dead.some((at) => !granted.some((time) => time > at + LAPSED))
}

/** Whether it is the object of this name, or one of its members is. */
function isOf({ name, members }: SimulatedObject, searched: string): boolean {
  return name === searched || (members?.some((member) => isOf(member, searched)) ?? false)
}

/** What belongs to the object and not to an owner: the counter of tokens, the permits, what a latch has left. */
function mayStay(key: string, objects: readonly SimulatedObject[]): boolean {
  return objects.some(({ kind, name }) => {
    if (kind === 'fenced') return key === `redisson_lock_token:{${name}}`
    // Permits of a client that was killed stay until a call reclaims them.
    if (kind === 'permits' && key === `{${name}}:timeout`) return true
    if (kind === 'rate-limiter') return key === name || key.startsWith(`{${name}}:`)
    if (kind === 'semaphore' || kind === 'permits' || kind === 'latch') return key === name
    return false
  })
}
