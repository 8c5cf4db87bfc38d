import type { Holder, Row } from './model'

export interface Change {
  readonly event: 'acquired' | 're-entered' | 'handed on' | 'left a level' | 'released' | 'expired' | 'gone'
  readonly name: string
  readonly kind: string
  readonly owner: string
  readonly count: number | null
  /** Of a lock that was handed on: its holder before. */
  readonly from: string | null
}

/** What the server said of the key since it was read last: `del`, `expired`, `hincrby`, or `message` for a release. */
export type Signals = ReadonlySet<string>

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
  const left = [...old.values()].filter(({ owner }) => !current.has(owner))
  const came = [...current.values()].filter(({ owner }) => !old.has(owner))
  const changes: Change[] = []
  if (left.length === 1 && came.length === 1 && now?.mode !== 'read' && !signals.has('expired'))
    changes.push(change('handed on', came[0]!, left[0]!.owner))
  else {
    const end = signals.has('expired')
      ? 'expired'
      : signals.has('message') || signals.has('del') || signals.has('hdel')
        ? 'released'
        : 'gone'
    changes.push(
      ...left.map((holder) => change(end, holder)),
      ...came.map((holder) => change('acquired', holder)),
    )
  }
  for (const holder of current.values()) {
    const { count } = old.get(holder.owner) ?? holder
    if ((holder.count ?? 0) > (count ?? 0)) changes.push(change('re-entered', holder))
    if ((holder.count ?? 0) < (count ?? 0)) changes.push(change('left a level', holder))
  }
  return changes
}
