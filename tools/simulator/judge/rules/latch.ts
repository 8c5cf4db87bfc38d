import type { KeyChanged, SimulatedObject, Time } from '../history'
import type { Reading } from '../reading'
import type { Violation } from '../violation'

interface Request {
  readonly units: number
  readonly begin: number
  readonly end: number
  isUsed: boolean
}

/** Each change of a latch is that of one call in flight, and of no other one: none counts down twice. */
export function judgeLatches(reading: Reading): Violation[] {
  return reading.history.objects
    .filter(({ kind }) => kind === 'latch')
    .flatMap((object) => unexplained(reading, object))
}

function unexplained(reading: Reading, { name }: SimulatedObject): Violation[] {
  const broken = reading.faults.all.find(
    ({ excuses, names, rewinds }) =>
      rewinds || (excuses.includes('data') && (!names || names.includes(name))),
  )
  const brokenAt = broken?.at ?? Number.POSITIVE_INFINITY
  const downs = requests(reading, name, 'count-down', brokenAt)
  const sets = requests(reading, name, 'set', brokenAt)
  let before = 0
  for (const { event, index } of reading.keys.get(name) ?? []) {
    if (broken && event.at >= broken.at) break
    const value = event.value ?? 0
    const isSet = value > before
    const isExplained = isSet ? take(sets, index, value) : value === before || take(downs, index, 1)
    if (!isExplained) return [violation(name, event, index, before)]
    before = value
  }
  return []
}

function violation(name: string, { at, value = 0 }: KeyChanged, index: number, before: number): Violation {
  const what = `${name} went from ${before} to ${value}, and no call in flight that had not taken effect before asked for it`
  return { rule: 'latch', at, name, what, events: [index] }
}

function requests(
  { calls }: Reading,
  name: string,
  operation: 'count-down' | 'set',
  brokenAt: Time,
): Request[] {
  const found: Request[] = []
  for (const { called, begin, end, failed, returned } of calls.values()) {
    if (called.object.name !== name || called.operation !== operation) continue
    // A server that lost the record of a request answers a second copy as if it were the first: false may be the second answer.
    if (returned?.ok === false && returned.at < brokenAt) continue
    const isOver = end !== undefined && !failed?.mayBeApplied
    const last = isOver ? end : Number.POSITIVE_INFINITY
    found.push({ units: called.units ?? 1, begin, end: last, isUsed: false })
  }
  return found
}

/** Of those that may have done it the one that ends first: so the others stay for what comes later. */
function take(requests: readonly Request[], index: number, units: number): boolean {
  let first: Request | undefined
  for (const request of requests)
    if (!request.isUsed && request.units === units && request.begin < index && request.end > index)
      if (!first || request.end < first.end) first = request
  if (first) first.isUsed = true
  return first !== undefined
}
