import type {
  ClientChanged,
  Ended,
  History,
  HistoryEvent,
  KeyChanged,
} from '../../../../tools/simulator/judge/history'
import { LONGEST_LEASE, SPECS } from '../plan/catalogue'
import type { Plans } from '../plan/objects'
import type { Disturbances } from './disturbances'
import { faultsOf, standstillsOf } from './excuses'
import { JudgedObjects } from './objects'
import type { EvidenceRecord } from './records'
import { isJava, keyOf } from './sections'
import { Turn } from './turn'

/** What the server said of a key, between two moments (µs). */
export interface Look {
  readonly name: string
  readonly askedAt: number
  readonly answeredAt: number
  readonly owners: readonly string[]
  readonly queue?: readonly string[]
  /** Permits that are free, or what a latch has left; undefined where there are none. */
  readonly value?: number | undefined
}

/** A turn that was over so long ago (µs) says nothing of what comes, unless the server keeps its hold for its lease. */
const KEPT = 3_000_000
const LOST_KEPT = (LONGEST_LEASE + 10_000) * 1_000
/** The longest that a message takes on this machine with no fault, in ms: a load of all its cores is none. */
const LATENCY = 125

/** All that was recorded, as histories that the judge of the simulator reads. Times in µs of the clock that all processes share. */
export class Chronicle {
  private turns: Turn[] = []
  private readonly open = new Map<string, Turn>()
  private readonly counterTurns: Turn[] = []
  private looks: Look[] = []
  private readonly lastEvent = new Map<string, number>()
  private readonly java = new Map<string, number>()
  private readonly kills: { readonly worker: string; readonly at: number }[] = []
  private readonly objects: JudgedObjects
  private readonly counters = new Map<string, number>()
  private calls = 0
  first: number | undefined

  constructor(
    private readonly plans: Plans,
    private readonly disturbances: Disturbances,
  ) {
    this.objects = new JudgedObjects(plans)
  }

  isCounter(name: string): boolean {
    return this.objects.isCounter(name)
  }

  record(record: EvidenceRecord): Turn | undefined {
    const { event, lock, side, caller, worker, at } = record
    this.first ??= at
    this.lastEvent.set(lock, Math.max(at, this.lastEvent.get(lock) ?? 0))
    if (isJava(worker) && !this.java.has(worker)) this.java.set(worker, at)
    const key = `${lock}|${keyOf(record)}`
    if (event !== 'want') {
      const turn = this.open.get(key)
      turn?.add(record)
      if (turn && turn.endedAt !== Number.POSITIVE_INFINITY) this.open.delete(key)
      return turn
    }
    const object = this.objects.of(lock, side, caller)
    for (const member of object.members ?? []) this.lastEvent.set(member.name, at)
    this.calls += 2
    const turn = new Turn(this.calls, object, record, this.objects.unitsOf(lock))
    this.open.set(key, turn)
    if (!this.isCounter(lock)) this.turns.push(turn)
    else {
      if (!this.counters.has(lock)) this.counters.set(lock, at)
      this.counterTurns.push(turn)
    }
    return turn
  }

  killed(worker: string, at: number): void {
    this.kills.push({ worker, at })
  }

  /** What changed while the server was asked was before it or after. */
  look(look: Look): void {
    if ((this.lastEvent.get(look.name) ?? 0) < look.askedAt) this.looks.push(look)
  }

  /** What there is of locks up to a moment, from a moment on. */
  locks(from: number, to: number, end?: Omit<Ended, 'type' | 'at'>): History {
    const dead = new Set(this.kills.filter(({ at }) => at < from - LOST_KEPT).map(({ worker }) => worker))
    this.turns = this.turns.filter((turn) => {
      const isKept = turn.isLeftToLease || turn.object.kind === 'fenced'
      return turn.endedAt > from - (isKept ? LOST_KEPT : KEPT) && !dead.has(turn.want.worker)
    })
    this.forgetLooks(from - KEPT)
    return this.history(this.turns, (name) => !this.isCounter(name), to, end)
  }

  /** Of each lock the last one before that moment says how it was then. */
  private forgetLooks(before: number) {
    const later = new Set<string>()
    this.looks = this.looks
      .reverse()
      .filter(({ name, answeredAt }) => {
        if (answeredAt >= before || this.isCounter(name)) return true
        const isLast = !later.has(name)
        later.add(name)
        return isLast
      })
      .reverse()
  }

  /** All that there is of one generation of semaphores and latches. */
  counter(name: string, to: number, end?: Omit<Ended, 'type' | 'at'>): History {
    const turns = this.counterTurns.filter(({ object }) => object.name === name)
    return this.history(turns, (each) => each === name, to, end)
  }

  /** Of a semaphore without owners: of turns that were under way when their process was killed. */
  unitsOfKilled(name: string): number {
    const killed = new Set(this.kills.map(({ worker }) => worker))
    return this.counterTurns
      .filter(
        ({ object, want, endedAt }) =>
          object.name === name && killed.has(want.worker) && !Number.isFinite(endedAt),
      )
      .reduce((sum, { object, want: { units = 1 } }) => sum + (object.kind === 'semaphore' ? units : 0), 0)
  }

  /** What the servers may have forgotten of. */
  spoiledNames(): Set<string> {
    const losses = this.disturbances.all.filter(({ kind }) => SPECS[kind].losesData)
    return new Set(losses.flatMap(({ to }) => this.names(to).counters))
  }

  get counterNames(): readonly string[] {
    return [...this.counters.keys()]
  }

  turnsOf(counter: string): number {
    return this.counterTurns.filter(({ object }) => object.name === counter).length
  }

  /** Those that were recorded of late. */
  isInUse(name: string, since: number): boolean {
    return (this.lastEvent.get(name) ?? 0) > since
  }

  private history(
    turns: readonly Turn[],
    isOfIt: (name: string) => boolean,
    to: number,
    end: Omit<Ended, 'type' | 'at'> | undefined,
  ): History {
    const first = this.first ?? to
    const ms = (micros: number) => (micros - first) / 1_000
    const events: HistoryEvent[] = [
      ...this.clients(ms),
      ...this.disturbances.all.flatMap((each) => [
        ...faultsOf(each, this.names(each.to), ms),
        ...standstillsOf(each, ms),
      ]),
      ...turns.flatMap((turn) => [...turn.outage(ms), ...this.setBefore(turn, ms), ...turn.events(ms)]),
      ...this.looks.filter(({ name }) => isOfIt(name)).flatMap((look) => this.seen(look, ms)),
    ].filter(({ at }) => at <= ms(to))
    events.sort((a, b) => a.at - b.at)
    if (end) events.push({ ...end, type: 'end', at: ms(to) })
    return {
      ...{ scene: 'chaos', seed: 0, areKeysLookedAt: true },
      objects: this.objects.all,
      events: withEntries(events),
      limits: { latency: LATENCY, watchdogTimeout: LONGEST_LEASE, longestLease: LONGEST_LEASE, drift: 0 },
    }
  }

  private clients(ms: (micros: number) => number): ClientChanged[] {
    const of = (client: string, at: number, change: 'created' | 'killed'): ClientChanged => ({
      ...{ type: 'client', at: ms(at), client, change },
      peer: isJava(client) ? 'java' : 'node',
    })
    return [
      ...[...this.java].map(([client, at]) => of(client, at, 'created')),
      ...this.kills.map(({ worker, at }) => of(worker, at, 'killed')),
    ]
  }

  private names(to: number) {
    const { locks, objects } = this.plans
    return {
      locks: [...locks, ...objects].map(({ name }) => name),
      counters: [...this.counters].flatMap(([name, at]) => (at <= to ? name : [])),
    }
  }

  /** The permits of a generation are there before the first of its callers asks, and before they are seen. */
  private setBefore({ object, want, id }: Turn, ms: (micros: number) => number): HistoryEvent[] {
    const { lock } = want
    if (object.kind === 'latch' || this.counters.get(lock) !== want.at) return []
    const seenAt = this.looks.find(({ name }) => name === lock)?.askedAt ?? want.at
    const at = Math.min(want.at, seenAt)
    const units = this.objects.unitsOf(lock)
    const call = { type: 'call', at: ms(at), id: -id, client: 'run', caller: 'run', object, units } as const
    return [
      { ...call, operation: 'set' },
      { type: 'return', at: ms(at), id: -id, ok: true },
    ]
  }

  private seen({ name, askedAt, answeredAt, owners, queue, value }: Look, ms: (micros: number) => number) {
    const events: HistoryEvent[] = [
      { type: 'key', at: ms(answeredAt), name, owners, value, ...(queue ? { queue } : {}) },
    ]
    const object = this.objects.all.find((each) => each.name === name)
    if (!object || value === undefined || (object.kind !== 'semaphore' && object.kind !== 'latch'))
      return events
    this.calls += 2
    const call = {
      type: 'call',
      at: ms(askedAt),
      id: this.calls,
      client: 'run',
      caller: 'run',
      object,
    } as const
    events.push({ ...call, operation: 'look' })
    return [...events, { type: 'return' as const, at: ms(answeredAt), id: this.calls, ok: true, value }]
  }
}

/** Who comes in ends the time in which a key was seen free. What did not change since it was seen says nothing. */
function withEntries(events: readonly HistoryEvent[]): HistoryEvent[] {
  const last = new Map<string, KeyChanged>()
  const calls = new Map<number, readonly string[]>()
  return events.flatMap((event): HistoryEvent[] => {
    if (event.type === 'call' && event.operation === 'acquire') {
      const { object } = event
      calls.set(
        event.id,
        (object.members ?? [object]).map(({ name }) => name),
      )
    }
    if (event.type === 'key') {
      const before = last.get(event.name)
      last.set(event.name, event)
      return before && isSame(before, event) ? [] : [event]
    }
    if (event.type !== 'return' || !event.ok) return [event]
    const changed = (calls.get(event.id) ?? []).flatMap((name) => {
      const before = last.get(name)
      if (!before) return []
      const isCounted = before.value !== undefined
      if (!isCounted && before.owners.length > 0) return []
      const changed = isCounted ? { value: undefined } : { owners: event.owners ?? ['a caller'] }
      const key: KeyChanged = { ...before, at: event.at, ...changed }
      last.set(name, key)
      return [key]
    })
    return [event, ...changed]
  })
}

const isSame = (one: KeyChanged, other: KeyChanged): boolean =>
  one.value === other.value &&
  String(one.owners) === String(other.owners) &&
  String(one.queue) === String(other.queue)
