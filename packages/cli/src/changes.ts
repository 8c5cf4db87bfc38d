import { type Holder, newHolder, type Row } from './model'

export interface Change {
  readonly event:
    | 'acquired'
    | 're-entered'
    | 'handed on'
    | 'left a level'
    | 'released'
    | 'expired'
    | 'lost'
    | 'gone'
  readonly name: string
  readonly kind: string
  readonly owner: string
  readonly count: number | null
  /** Of a lock that was handed on: its holder before. */
  readonly from: string | null
}

/** What the server said of the key since it was read last. */
export interface Signals {
  /** Names of events, such as `del`, `expired` and `evicted`, and `message` for the message of a release. */
  readonly events: ReadonlySet<string>
  /** Owners whose fields changed: Redis 8.8 and later tell. */
  readonly owners: ReadonlySet<string>
  /** Whether a release would have been heard: then a hold that ended without a message was lost. */
  readonly everyMessage: boolean
}

/** What happened between two looks at one object. What nothing says is `gone`, and not guessed to be a release. */
export function changesBetween(
  name: string,
  before: Row | undefined,
  now: Row | undefined,
  signals: Signals,
): Change[] {
  const kind = (now ?? before)?.kind ?? 'lock'
  const byOwner = (row: Row | undefined) =>
    new Map(row?.holders.map((holder) => [holder.owner, holder]) ?? [])
  const [old, current] = [byOwner(before), byOwner(now)]
  const change = (event: Change['event'], { owner, count }: Holder, from: string | null = null): Change => ({
    event,
    name,
    kind,
    owner,
    count,
    from,
  })
  // A hold that began and ended since: both looks miss it, and its owner was told.
  const short = [...signals.owners].filter((owner) => !old.has(owner) && !current.has(owner))
  const passing = short.flatMap((owner) => {
    const holder = newHolder(owner, null, null)
    const end = endBy(signals, owner)
    return [change('acquired', holder), change(end === 'gone' ? 'released' : end, holder)]
  })
  const left = [...old.values()].filter(({ owner }) => !current.has(owner))
  const came = [...current.values()].filter(({ owner }) => !old.has(owner))
  const changes: Change[] = [...passing]
  if (left.length === 1 && came.length === 1 && now?.mode !== 'read' && !signals.events.has('expired'))
    changes.push(change('handed on', came[0]!, left[0]!.owner))
  else
    changes.push(
      ...left.map((holder) => change(endBy(signals, holder.owner), holder)),
      ...came.map((holder) => change('acquired', holder)),
    )
  for (const holder of current.values()) {
    const { count } = old.get(holder.owner) ?? holder
    if ((holder.count ?? 0) > (count ?? 0)) changes.push(change('re-entered', holder))
    if ((holder.count ?? 0) < (count ?? 0)) changes.push(change('left a level', holder))
  }
  return changes
}

/** How a hold ended, by what the server said. A key that is deleted without the message of a release was not released. */
function endBy({ events, everyMessage }: Signals, owner: string): Change['event'] {
  if (events.has('expired')) return 'expired'
  if (events.has('message')) return 'released'
  if (events.has('evicted')) return 'lost'
  if (!events.has('del') && !events.has('hdel')) return 'gone'
  if (!everyMessage) return 'released'
  // The release of a fair lock of Java sends no message if none is in its queue.
  return isOfRlock(owner) ? 'lost' : 'gone'
}

/** Client ids of rlock are UUIDs of version 8, those of Java of version 4. */
const isOfRlock = (owner: string) => owner[14] === '8'
