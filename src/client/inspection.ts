import { hostname } from 'node:os'
import type { Lease } from '../leases/lease'
import type { LeaseMonitor } from '../leases/lease-monitor'
import type { LogicalThread } from '../ownership/logical-thread'
import { ownerField } from '../ownership/owner-field'
import { INSPECT_CHANNEL } from '../redis/listen/inspection-channel'
import type { Clock, Moment } from '../util/clock'
import { getOrCreate } from '../util/get-or-create'
import type { ClientQueues } from '../waiting/client-queues'

/** A longer request is none of ours, in characters. */
const LONGEST_REQUEST = 4_096
/** The entries of an answer have at most this many characters together. */
const LONGEST_ANSWER = 60_000
const ANSWERS_A_SECOND = 10
const HOST = hostname()

/**
 * Tells inspectors what a client holds and waits for, when they ask on the channel `rlock:inspect`. Nothing
 * is stored.
 */
export class Inspection {
  /** The requests of this second. A request may come several times, by several connections. */
  private readonly answered = new Set<string>()
  private second = 0

  constructor(
    private readonly clientId: string,
    private readonly clock: Clock,
    private readonly leases: LeaseMonitor,
    private readonly queues: ClientQueues,
    private readonly label = `${HOST}:${process.pid}`,
  ) {}

  /** Returns the channel and the text of the answer, if the request wants one. */
  answer(text: string): readonly [string, string] | undefined {
    const { id, key } = parsed(text)
    if (typeof id !== 'string' || !/^[0-9a-f]{32}$/.test(id) || !this.admits(id)) return undefined
    return [`${INSPECT_CHANNEL}:${id}`, this.describe(typeof key === 'string' ? key : undefined)]
  }

  private admits(id: string): boolean {
    const second = Math.floor(this.clock.now().monotonic / 1_000)
    if (second !== this.second) this.answered.clear()
    this.second = second
    if (this.answered.has(id) || this.answered.size >= ANSWERS_A_SECOND) return false
    this.answered.add(id)
    return true
  }

  private describe(key: string | undefined): string {
    const { clientId: client, label, leases } = this
    const [holds, waits]: [object[], object[]] = [[], []]
    let room = LONGEST_ANSWER
    const isFull = (list: object[], entry: object) => {
      room -= JSON.stringify(entry).length
      if (room >= 0) list.push(entry)
      return room < 0
    }
    // Waiters first: they are fewer, and each names what its caller holds.
    for (const wait of this.waits(key)) if (isFull(waits, wait)) break
    const held = key === undefined ? leases.live.all() : leases.live.on(key)
    for (const lease of held) if (room < 0 || isFull(holds, this.hold(lease))) break
    return JSON.stringify({ v: 1, client, label, host: HOST, pid: process.pid, holds, waits, cut: room < 0 })
  }

  private hold({ leased, owner, at, book }: Lease): object {
    const { key, name, kind } = leased
    const { acquired, maxHoldTime } = book
    return { key, name, kind, owner, heldFor: this.since(acquired), maxHoldTime, at }
  }

  private *waits(key: string | undefined): Iterable<object> {
    let owners: Map<object, string[]> | undefined
    const places = new Map<string, number>()
    for (const { target, waiter } of this.queues.waiting()) {
      const { key: wanted, subject: name } = target
      if (key !== undefined && wanted !== key) continue
      const place = (places.get(wanted) ?? 0) + 1
      places.set(wanted, place)
      const { at, threadId, thread } = waiter.attempt
      const owner = threadId === undefined ? undefined : ownerField(this.clientId, threadId)
      owners ??= this.ownersByThread()
      const holding = thread && ownersOf(thread, owners)
      yield { key: wanted, name, owner, place, waitingFor: this.since(waiter.joined), holding, at }
    }
  }

  private ownersByThread(): Map<object, string[]> {
    const owners = new Map<object, string[]>()
    for (const { thread, leased, owner } of this.leases.live.all()) {
      if (!thread) continue
      getOrCreate(owners, thread, () => []).push(`${owner} ${leased.key}`)
    }
    return owners
  }

  private since(moment: Moment): number {
    return Math.max(0, Math.round(this.clock.elapsedSince(moment)))
  }
}

/** What the thread and its ancestors hold: `<owner> <key>`. */
function ownersOf(thread: LogicalThread, owners: Map<object, string[]>): string[] {
  const held: string[] = []
  for (let each: LogicalThread | undefined = thread; each; each = each.parent)
    held.push(...(owners.get(each) ?? []))
  return held
}

function parsed(text: string): Record<string, unknown> {
  if (text.length > LONGEST_REQUEST) return {}
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}
