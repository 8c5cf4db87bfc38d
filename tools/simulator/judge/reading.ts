import { Faults } from './faults'
import type {
  Acted,
  Called,
  ClientChanged,
  Ended,
  Failed,
  FaultInjected,
  History,
  KeyChanged,
  Returned,
  Time,
  Told,
} from './history'
import { endsByLevel, type Hold, JavaHolds, keysOf, ownerOf, sideOf } from './holds'

/** A call with its outcome. Positions are indexes of the history's events. */
export interface Call {
  readonly called: Called
  readonly begin: number
  end: number | undefined
  returned: Returned | undefined
  failed: Failed | undefined
  /** What it acquired, re-entered or released. */
  hold: Hold | undefined
}

/** When a client was not running. */
export interface Absence {
  readonly from: Time
  to: Time
}

/** With a watchdog timeout of at most nine times `slavesSyncTimeout`, in ms. */
const UNACKNOWLEDGED_RENEWALS = 9 * 1_000

/** A history, read once: what all rules of the judge look at. */
export class Reading {
  readonly calls = new Map<number, Call>()
  readonly holds: Hold[] = []
  readonly acts: { readonly hold: Hold; readonly index: number }[] = []
  readonly keys = new Map<string, { readonly event: KeyChanged; readonly index: number }[]>()
  readonly faults: Faults
  readonly killedAt = new Map<string, number>()
  /** Where a client was shut down or closed. */
  readonly closedAt = new Map<string, number>()
  readonly javaClients = new Set<string>()
  readonly end: Ended | undefined
  readonly lastTime: Time
  private readonly absences = new Map<string, Absence[]>()
  private readonly open = new Map<string, Hold>()
  private readonly injected: FaultInjected[] = []
  private readonly javaHolds: JavaHolds

  constructor(readonly history: History) {
    const { events, limits } = history
    this.javaHolds = new JavaHolds(limits)
    this.end = events.findLast((event): event is Ended => event.type === 'end')
    this.lastTime = events.at(-1)?.at ?? 0
    for (let index = 0; index < events.length; index++) this.read(index)
    this.faults = new Faults(this.injected)
  }

  timeOf(index: number): Time {
    return this.history.events[index]!.at
  }

  /** Whether the client ran for the whole time. */
  ran(client: string, from: Time, to: Time): boolean {
    return !this.absences.get(client)?.some((absence) => absence.from <= to && absence.to >= from)
  }

  absencesOf(client: string): readonly Absence[] {
    return this.absences.get(client) ?? []
  }

  /** A machine that slept finds by its wall clock alone that it did: not if that was set back meanwhile. */
  sleptUnseen({ call: { client }, suspendedAt }: Hold, index: number): boolean {
    if (suspendedAt === undefined) return false
    return this.faults.excuses('set back', { client }, this.timeOf(suspendedAt), this.timeOf(index))
  }

  /**
   * A failover may undo a renewal, where renewals do not wait for replicas (docs/operations/failover.md). A hold with a lease has
   * renewals if a level of it has none.
   */
  mayMissRenewal(hold: Hold, from: Time, to: Time): boolean {
    if (this.history.limits.watchdogTimeout > UNACKNOWLEDGED_RENEWALS) return false
    const isRenewed = ({ called, hold: of }: Call) =>
      of === hold && called.operation === 'acquire' && called.lease === undefined
    if (!this.faults.all.some(({ rewinds, at }) => rewinds && at >= from && at <= to)) return false
    return [...this.calls.values()].some(isRenewed)
  }

  private read(index: number): void {
    const event = this.history.events[index]!
    switch (event.type) {
      case 'call':
        return this.called(event, index)
      case 'return':
        return this.returned(event, index)
      case 'failure':
        return this.failed(event, index)
      case 'told':
        return this.told(event, index)
      case 'act':
        return this.acted(event, index)
      case 'client':
        return this.changed(event, index)
      case 'fault':
        this.injected.push(event)
        return
      case 'key':
        return this.keyChanged(event, index)
    }
  }

  private keyChanged(event: KeyChanged, index: number) {
    const facts = this.keys.get(event.name)
    if (facts) facts.push({ event, index })
    else this.keys.set(event.name, [{ event, index }])
    if (this.javaClients.size === 0) return
    const gone = this.javaHolds.change(event)
    if (gone.length === 0) return
    for (const hold of this.open.values())
      if (hold.keys.includes(event.name) && hold.fields.some((field) => gone.includes(field)))
        this.endIfTaken(hold, index, event.expired === true)
  }

  /** A Java thread is told nothing. */
  private endIfTaken(hold: Hold, index: number, hasExpired: boolean) {
    if (!this.javaClients.has(hold.call.client)) return
    const [from, at, faults] = [this.timeOf(hold.calledAt), this.timeOf(index), new Faults(this.injected)]
    if (this.javaHolds.isTaken(hold, { from, at, hasExpired, faults })) this.leave(hold, index, 'taken')
  }

  private called(called: Called, begin: number) {
    const call: Call = {
      called,
      begin,
      end: undefined,
      returned: undefined,
      failed: undefined,
      hold: undefined,
    }
    this.calls.set(called.id, call)
    if (called.operation !== 'release') return
    const hold = called.hold === undefined ? undefined : this.calls.get(called.hold)?.hold
    call.hold = hold ?? this.open.get(openKey(called))
    if (!call.hold || call.hold.leftAt !== undefined) return
    call.hold.levels--
    if (call.hold.levels === 0) this.leave(call.hold, begin, 'released')
  }

  private returned(returned: Returned, end: number) {
    const call = this.calls.get(returned.id)
    if (!call || call.end !== undefined) return
    call.returned = returned
    call.end = end
    const { called } = call
    if (called.operation === 'release' && call.hold) call.hold.releasedAt = end
    if (called.operation === 'acquire' && returned.ok && !this.killedAt.has(called.client))
      this.entered(call, returned, end)
  }

  private entered(call: Call, returned: Returned, enteredAt: number) {
    const { called } = call
    const outer = this.open.get(openKey(called))
    if (outer) {
      outer.levels++
      call.hold = outer
      return
    }
    const hold: Hold = {
      id: called.id,
      call: called,
      owner: ownerOf(called),
      keys: keysOf(called.object),
      side: sideOf(called.object),
      units: called.units ?? 1,
      token: returned.token,
      fields: returned.owners ?? [],
      calledAt: call.begin,
      enteredAt,
      levels: 1,
      leftAt: undefined,
      ending: undefined,
      releasedAt: undefined,
      suspendedAt: undefined,
      toldAt: undefined,
    }
    call.hold = hold
    this.holds.push(hold)
    this.open.set(openKey(called), hold)
    if (this.isAway(called.client)) hold.suspendedAt = enteredAt
    else if (this.wasSetBackAsleep(call, enteredAt)) hold.suspendedAt = call.begin
    if (this.javaClients.has(called.client) && this.javaHolds.isGone(hold))
      this.endIfTaken(hold, enteredAt, true)
  }

  private failed(failed: Failed, end: number) {
    const call = this.calls.get(failed.id)
    if (!call || call.end !== undefined) return
    call.failed = failed
    call.end = end
    // A release that finds its hold lost tells its caller.
    const { hold, called } = call
    if (called.operation === 'release' && hold) {
      hold.toldAt ??= end
      if (hold.leftAt === undefined) this.leave(hold, call.begin, 'released')
    }
  }

  private told({ hold: id, owners }: Told, index: number) {
    const call = this.calls.get(id)
    const hold = call?.hold
    if (!hold) return
    // The level of a re-entry ends by its own lease, and the hold goes on, unless that was its last level.
    if (hold.id !== id && (hold.leftAt !== undefined || hold.levels > 1)) {
      if (hold.leftAt === undefined) hold.levels--
      return
    }
    if (owners && owners.length < hold.fields.length) return
    hold.toldAt ??= index
    if (hold.leftAt === undefined) this.leave(hold, index, 'told')
  }

  private acted({ hold: id }: Acted, index: number) {
    const hold = this.calls.get(id)?.hold
    if (hold) this.acts.push({ hold, index })
  }

  private changed({ client, change, peer, at }: ClientChanged, index: number) {
    if (peer === 'java') this.javaClients.add(client)
    if (change === 'killed') {
      this.killedAt.set(client, index)
      for (const hold of this.open.values())
        if (hold.call.client === client) this.leave(hold, index, 'killed')
    }
    if ((change === 'shut-down' || change === 'closed') && !this.closedAt.has(client))
      this.closedAt.set(client, index)
    if (change === 'suspended') {
      const absences = this.absences.get(client) ?? []
      this.absences.set(client, [...absences, { from: at, to: Number.POSITIVE_INFINITY }])
      for (const hold of this.open.values()) if (hold.call.client === client) hold.suspendedAt ??= index
    }
    const absence = this.absences.get(client)?.at(-1)
    if (change === 'resumed' && absence) absence.to = at
  }

  private isAway(client: string): boolean {
    return this.absences.get(client)?.at(-1)?.to === Number.POSITIVE_INFINITY
  }

  /** The client was suspended before the answer came, and its wall clock was set back meanwhile. */
  private wasSetBackAsleep({ called: { client }, begin }: Call, enteredAt: number): boolean {
    const [from, to] = [this.timeOf(begin), this.timeOf(enteredAt)]
    if (this.ran(client, from, to)) return false
    return new Faults(this.injected).excuses('set back', { client }, from, to)
  }

  private leave(hold: Hold, index: number, ending: Hold['ending']) {
    hold.leftAt = index
    hold.ending = ending
    const key = openKey(hold.call)
    if (this.open.get(key) === hold) this.open.delete(key)
  }
}

/** Acquisitions of one owner on one side of an object re-enter each other; those of permits and of red locks stand alone. */
function openKey(called: Called): string {
  const { object } = called
  const side = sideOf(object)
  return `${ownerOf(called)}|${object.name}|${side === 'permits' || endsByLevel(object) ? called.id : side}`
}
