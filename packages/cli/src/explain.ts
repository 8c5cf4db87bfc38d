import type { Blocked } from './graph'
import type { Row } from './model'
import { MOST_HOLDERS } from './owners'
import type { ProcessAnswer } from './processes'
import { safe } from './terminal'
import { showTime } from './times'

/** The longest lease that a watchdog sets by default, in ms: a longer rest means a lease that the caller chose. */
const WATCHDOG_LEASE = 30_000

/** Of so many holders it is said what they are. */
const MOST_TOLD = 50

/** What the facts mean, in sentences: each says what it follows from. */
export function explain(
  row: Row | undefined,
  processes: readonly ProcessAnswer[],
  cycles: readonly Blocked[][],
  refused = false,
): string[] {
  const said: string[] = []
  if (!row && refused) return ['This user may not read the key, so nothing is known of it.']
  if (!row) return ['There is no key of this name, and no process says that it waits for it.']
  const told = row.holders.slice(0, MOST_TOLD)
  const others = row.holders.length - told.length + row.moreHolders
  for (const holder of told) {
    const owner = safe(holder.owner, 60)
    if (holder.process !== null)
      said.push(`${owner} is alive: its process answers as ${safe(holder.label ?? holder.process)}.`)
    else if (holder.host !== null)
      said.push(`${owner} has a connection from ${safe(holder.host)}. Its process does not answer.`)
    else if (holder.clientId !== null)
      said.push(
        `${owner}: no connection is named after this client. A Java process names none, unless its clientName says so; ` +
          'a process of rlock without a connection is gone.',
      )
    if (holder.ttl === -2) said.push(`The lease of ${owner} has ended: its timeout is gone.`)
    else if (holder.ttl === -1)
      said.push(`${owner} has no expiry: without a release the lock stays held for ever.`)
    else if ((holder.ttl ?? 0) > WATCHDOG_LEASE)
      said.push(
        `The hold of ${owner} lasts ${showTime(holder.ttl)} more: it has a lease that its caller chose, is not renewed, and ends then ` +
          'at the latest.',
      )
    else if (holder.clientId !== null)
      said.push(
        `The hold of ${owner} lasts ${showTime(holder.ttl)} more. If its holder lives, it is renewed before; else it ends then.`,
      )
  }
  if (others > 0)
    said.push(`${others} more holders: rlock ls and show with --json list up to ${MOST_HOLDERS} of them.`)
  const waits = processes.flatMap(({ waits: all, label }) =>
    all.filter(({ key }) => key === row.name).map((wait) => ({ ...wait, label })),
  )
  for (const { label, waitingFor, place } of waits.slice(0, 10))
    said.push(`${safe(label)} has waited for ${showTime(waitingFor)}, at place ${place} of its process.`)
  const unnamed = (row.waiting.processes ?? 0) - new Set(waits.map(({ label }) => label)).size
  if (unnamed > 0)
    said.push(
      `${unnamed} more processes listen on the channel and do not answer: Java's, older ones, ones that have just released, or a rlock watch.`,
    )
  for (const cycle of cycles) said.push(describeCycle(cycle))
  return said
}

/** One sentence about callers that wait for each other, with the places in the code where they are known. */
export function describeCycle(cycle: readonly Blocked[]): string {
  const place = (at: string | null) => (at === null ? '' : ` (${safe(at, 200)})`)
  const callers = cycle.map(
    ({ label, holds, waits }) =>
      `${safe(label)} holds ${safe(holds.name)}${place(holds.at)} and has waited for ${safe(waits.name)} ` +
      `for ${showTime(waits.since)}${place(waits.at)}`,
  )
  return `Deadlock: ${callers.join('; ')}.`
}
