import type { Called, History, HistoryEvent, Returned } from '../judge/history'
import { ownerOf } from '../judge/holds'
import { Reading } from '../judge/reading'
import type { Violation } from '../judge/violation'

/** How much before the first event that shows a violation is told, in virtual ms. */
const BEFORE = 200
const MOST_LINES = 400

/**
 * Tells a history as a text: who asked for what, what was answered, what the server had, what broke, and who was inside. Events
 * that show the violation are marked. `trace`: lines of the world about messages, as a server notes them.
 */
export function tell(
  history: History,
  violation: Violation | undefined,
  trace: readonly string[] = [],
): string {
  const reading = new Reading(history)
  const marked = new Set(violation?.events ?? [])
  const first = Math.min(...marked, history.events.length - 1)
  const from = Math.max(0, (history.events[first]?.at ?? 0) - BEFORE)
  const to = violation ? violation.at : Number.POSITIVE_INFINITY
  const lines: { readonly at: number; readonly text: string }[] = []
  history.events.forEach((event, index) => {
    if (event.at < from && !isStillInside(reading, index, from)) return
    if (event.at > to && !marked.has(index)) return
    const text = sentence(event, reading)
    if (text !== undefined) lines.push({ at: event.at, text: `${marked.has(index) ? '→' : ' '} ${text}` })
  })
  for (const line of trace) {
    const at = timeOf(line)
    if (at !== undefined && at >= from && at <= to) lines.push({ at, text: `      ${shortened(line)}` })
  }
  lines.sort((a, b) => a.at - b.at)
  const left = lines.length - MOST_LINES
  const shown = left > 0 ? lines.slice(left) : lines
  return [
    ...(violation
      ? [`${violation.rule} in scene ${history.scene}, seed ${history.seed}:`, violation.what, '']
      : []),
    ...(left > 0 ? [`(${left} earlier lines are left out)`] : []),
    ...shown.map(({ at, text }) => `${at.toFixed(1).padStart(10)} ms ${text}`),
    ...(violation ? ['', ...inside(reading, violation.at)] : []),
  ].join('\n')
}

/** A line of a server's trace says the time after the server. */
function timeOf(line: string): number | undefined {
  const found = /^server \d+ (\d+(?:\.\d+)?) /.exec(line)
  return found ? Number(found[1]) : undefined
}

/** Without the time, and without the text of a script. */
function shortened(line: string): string {
  const words = line.replace(/\s+/g, ' ').replace(/^(server \d+) [\d.]+ /, '$1: ')
  return words.length > 240 ? `${words.slice(0, 240)} …` : words
}

/** What happened earlier and lasts until then belongs to the story. */
function isStillInside(reading: Reading, index: number, from: number): boolean {
  const hold = reading.holds.find(({ enteredAt, calledAt }) => enteredAt === index || calledAt === index)
  return hold !== undefined && (hold.leftAt === undefined || reading.timeOf(hold.leftAt) >= from)
}

function sentence(event: HistoryEvent, { calls }: Reading): string | undefined {
  switch (event.type) {
    case 'call':
      return `${ownerOf(event)} calls ${callOf(event)}`
    case 'return': {
      const called = calls.get(event.id)?.called
      return called && `${ownerOf(called)} ${answered(called, event.ok)}${details(event)}`
    }
    case 'failure': {
      const called = calls.get(event.id)?.called
      const may = event.mayBeApplied ? ', and it may have happened' : ''
      return called && `${ownerOf(called)} gets ${event.error} from ${callOf(called)}${may}`
    }
    case 'told': {
      const called = calls.get(event.hold)?.called
      return called && `${ownerOf(called)} is told that ${called.object.name} is over (${event.how})`
    }
    case 'act': {
      const called = calls.get(event.hold)?.called
      return called && `${ownerOf(called)} looks, is inside ${called.object.name}, and acts`
    }
    case 'client':
      return `${event.client} is ${event.change}`
    case 'fault': {
      const whom = [event.clients?.join(', '), event.server, event.names?.join(', ')]
        .filter(Boolean)
        .join(', ')
      const until =
        event.until !== undefined && event.until > event.at ? ` until ${event.until.toFixed(1)} ms` : ''
      return `FAULT ${event.kind}${whom === '' ? '' : ` of ${whom}`}${until}`
    }
    case 'key': {
      const value = event.value === undefined ? '' : ` ${event.value}`
      const queue = event.queue ? `, queue ${event.queue.join(', ')}` : ''
      const free =
        event.owners.length === 0 && event.value === undefined ? ' free' : ` ${event.owners.join(', ')}`
      const why = event.expired ? ' (expired)' : ''
      return `server: ${event.name} is${value === '' ? free : `${value}${event.owners.length > 0 ? free : ''}`}${queue}${why}`
    }
    case 'own-refused':
      return `server: ${event.name} is refused to ${event.owner}, which has it`
    case 'end':
      return 'all clients have ended'
  }
}

function callOf({ as, operation, object, wait, lease, units }: Called): string {
  const options = [
    wait === undefined ? '' : `wait ${wait}`,
    lease === undefined ? '' : `lease ${lease}`,
    units === undefined ? '' : `${units} units`,
  ].filter((option) => option !== '')
  return `${as ?? operation}(${options.join(', ')}) of the ${object.kind} ${object.name}`
}

function answered(called: Called, ok: boolean): string {
  const { operation, object } = called
  if (operation === 'acquire') return ok ? `comes into ${object.name}` : `does not come into ${object.name}`
  if (operation === 'release') return `has released ${object.name}`
  return ok ? `is done with ${callOf(called)}` : `is told no by ${callOf(called)}`
}

function details({ token, value, level, owners }: Returned): string {
  const parts = [
    token === undefined ? '' : `token ${token}`,
    value === undefined ? '' : `answer ${value}`,
    level === undefined ? '' : `level ${level}`,
    owners && owners.length > 0 ? `as ${owners.join(', ')}` : '',
  ].filter((part) => part !== '')
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`
}

/** Who was inside at that time. */
function inside(reading: Reading, at: number): string[] {
  const holders = reading.holds.filter(
    ({ enteredAt, leftAt }) =>
      reading.timeOf(enteredAt) <= at && (leftAt === undefined || reading.timeOf(leftAt) >= at),
  )
  if (holders.length === 0) return [`At ${at.toFixed(1)} ms no caller is inside.`]
  return [
    `Inside at ${at.toFixed(1)} ms:`,
    ...holders.map(
      ({ owner, call, enteredAt }) =>
        `  ${owner} in ${call.object.name} since ${reading.timeOf(enteredAt).toFixed(1)} ms`,
    ),
  ]
}
