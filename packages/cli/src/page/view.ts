import { createHash } from 'node:crypto'
import type { Found } from '../find'
import { glob } from '../glob'
import type { Holder, Row } from '../model'
import type { ProcessWait } from '../processes'
import { safe } from '../terminal'

/** One lock or synchronizer as the page has it. Texts are escaped and cut; times are ms of the clock of this machine. */
export interface PageRow {
  readonly id: string
  readonly name: string
  /** Null: a process waits for it, and no key says what it is. */
  readonly kind: string | null
  readonly value: number | null
  /** How many processes listen, and how many places the queue of a fair lock has. */
  readonly listeners: number | null
  readonly queue: number | null
  readonly holders: readonly PageHolder[]
  /** How many more holders there are. */
  readonly more: number
  readonly waits: readonly PageWait[]
}

export interface PageHolder {
  /** What frees this hold; null: the page cannot free it. */
  readonly id: string | null
  readonly owner: string
  readonly count: number | null
  /** When the hold ends; -1: never; null: not known. */
  readonly ends: number | null
  readonly since: number | null
  readonly label: string | null
  /** What the caller of this hold waits for. */
  readonly waitsFor: readonly string[]
}

export interface PageWait {
  readonly owner: string | null
  readonly label: string
  readonly since: number
  readonly place: number
  /** Where in the code. */
  readonly at: string | null
  /** What this caller holds meanwhile. */
  readonly holds: readonly string[]
}

export interface View {
  readonly rows: readonly PageRow[]
  /** The hold behind the id of a holder. */
  readonly holds: ReadonlyMap<string, { readonly name: string; readonly owner: string }>
}

const SHOWN = 160
const MOST_NAMES = 5

const idOf = (...texts: string[]) =>
  createHash('sha256').update(texts.join('\0')).digest('base64url').slice(0, 22)
const shown = (text: string) => safe(text, SHOWN)

/** What the page shows of what was found. Names of 64 kB stay here: the page names a hold by its id. */
export function viewOf({ rows, processes }: Found, pattern: string | undefined, now = Date.now()): View {
  const holds = new Map<string, { name: string; owner: string }>()
  const waitsOf = new Map<string, { readonly wait: ProcessWait; readonly label: string }[]>()
  /** By the holds of a caller that waits: what it waits for. */
  const waitsFor = new Map<string, string[]>()
  for (const { waits, label } of processes)
    for (const wait of waits) {
      push(waitsOf, wait.key, { wait, label })
      for (const held of wait.holding ?? []) push(waitsFor, held, wait.key)
    }
  const known = new Set(rows.map(({ name }) => name))
  const matches = pattern === undefined ? () => true : glob(pattern)
  const awaited = [...waitsOf.keys()].filter((name) => !known.has(name) && matches(name))

  const holderOf = ({ name, kind }: Row, holder: Holder): PageHolder => {
    const { owner, clientId, count, ttl, heldFor, label, host } = holder
    // A slot is no lock: only its own client gives it back.
    const id = clientId === null || kind === 'slots' ? null : idOf(name, owner)
    if (id !== null) holds.set(id, { name, owner })
    const named = label ?? host
    return {
      ...{ id, owner: shown(owner), count, label: named === null ? null : shown(named) },
      ends: ttl === null || ttl === -1 ? ttl : now + ttl,
      since: heldFor === null ? null : now - heldFor,
      waitsFor: names(waitsFor.get(`${owner} ${name}`) ?? []),
    }
  }
  const waitsAt = (name: string) =>
    (waitsOf.get(name) ?? []).map(
      ({ wait, label }): PageWait => ({
        ...{ owner: wait.owner === undefined ? null : shown(wait.owner), label: shown(label) },
        ...{
          since: now - wait.waitingFor,
          place: wait.place,
          at: wait.at === undefined ? null : shown(wait.at),
        },
        holds: names((wait.holding ?? []).map((held) => held.slice(held.indexOf(' ') + 1))),
      }),
    )
  const seen = rows.map(
    (row): PageRow => ({
      ...{ id: idOf(row.name), name: shown(row.name), kind: kindOf(row), value: row.value },
      ...{ listeners: row.waiting.processes, queue: row.waiting.queue },
      holders: row.holders.map((holder) => holderOf(row, holder)),
      more: row.moreHolders,
      waits: waitsAt(row.name),
    }),
  )
  const withoutKey = awaited.map(
    (name): PageRow => ({
      ...{ id: idOf(name), name: shown(name), kind: null, value: null, listeners: null, queue: null },
      ...{ holders: [], more: 0, waits: waitsAt(name) },
    }),
  )
  return { rows: [...seen, ...withoutKey], holds }
}

const kindOf = ({ kind, mode }: Row) => (mode === null ? kind : `${kind}, ${mode}`)
const names = (all: readonly string[]) => all.slice(0, MOST_NAMES).map(shown)

function push<T>(lists: Map<string, T[]>, key: string, value: T): void {
  const list = lists.get(key)
  if (list) list.push(value)
  else lists.set(key, [value])
}

/** A hold or a wait in a lane; without `to` it is not over. */
export interface Span {
  readonly from: number
  readonly to?: number
  readonly label: string
}

/** Which row, from 0 on, and of how many at that time. */
export interface Place {
  row: number
  rows: number
}

/**
 * Puts spans that meet each other into rows of their own, `most` of them. What finds no free row is in the last one, in one span for
 * all of them. `now` is the end of spans that are not over. The page contains the source of this function, so it uses nothing else.
 */
export function inRows<S extends Span>(spans: readonly S[], most: number, now: number): (S & Place)[] {
  const ends: number[] = []
  const laid: (S & Place)[] = []
  /** The last span of the last row, and how many it stands for. */
  let shared: { from: number; to?: number; label: string } | undefined
  let count = 0
  for (const span of [...spans].sort((a, b) => a.from - b.from)) {
    const to = span.to ?? now
    let row = ends.findIndex((end) => end <= span.from)
    if (row < 0 && ends.length < most - 1) row = ends.length
    if (row >= 0) {
      ends[row] = to
      laid.push({ ...span, row, rows: 1 })
    } else if (shared && span.from < (shared.to ?? now)) {
      if (shared.to !== undefined) shared.to = Math.max(shared.to, to)
      shared.label = `${++count} more`
    } else {
      const alone = { ...span, row: most - 1, rows: 1 }
      shared = alone
      count = 1
      laid.push(alone)
    }
  }
  let group: Place[] = []
  let end = Number.NEGATIVE_INFINITY
  for (const span of laid) {
    if (span.from >= end) group = []
    group.push(span)
    const rows = Math.max(span.row + 1, group[0]!.rows)
    // Those before have as many already, unless there is one more now.
    if (rows > group[0]!.rows) for (const each of group) each.rows = rows
    span.rows = rows
    end = Math.max(end, span.to ?? now)
  }
  return laid
}
