/**
 * What a read-write lock is, written down without Redis, scripts, promises or sockets: the state in the
 * server by the tables of the protocol, and what each client knows of its own holds. Times are in ms of a
 * time that only passes when the test says so.
 */
export type Side = 'read' | 'write'

/** What an operation answers: a value, or the name of an error. */
export type Answer = boolean | 'done' | 'LockLostError' | 'IllegalMonitorStateError'

/** The field of one hold on the server. */
export interface Field {
  readonly side: Side
  readonly client: number
  readonly caller: number
  count: number
  /** When the read timeout key of each level runs out; a read hold's only. */
  readTimeouts: number[]
}

interface Level {
  readonly lease: number | undefined
  readonly granted: number
}

interface Hold {
  readonly field: Field
  readonly levels: Level[]
  granted: number
  lease: number
  state: 'held' | 'lost' | 'expired'
}

interface Slot {
  current?: Hold | undefined
  /** How many levels ran out by their own lease; their unlock() is still to come. */
  owed: number
}

/** How much earlier than its lease a hold counts as gone here; all leases of the test are longer than 10 s. */
const MARGIN = 1_000

export class Reference {
  now = 0
  mode: Side | undefined
  expires = 0
  fields: Field[] = []
  private readonly slots = new Map<string, Slot>()

  constructor(
    private readonly watchdog: number,
    /** Clients that are Java's: they know nothing of a hold but what the server says, and never of a loss. */
    private readonly java: readonly number[] = [],
  ) {}

  tryLock(client: number, caller: number, side: Side, lease: number | undefined): Answer {
    const slot = this.slot(client, caller, side)
    if (slot.current?.state === 'lost') return 'LockLostError'
    if (slot.current) return this.reenter(slot.current, side, lease)
    const beside = side === 'read' ? this.slot(client, caller, 'write').current : undefined
    const writing = beside?.state === 'held' ? beside.field : undefined
    const free = this.mode === undefined
    const mayEnter = free || (side === 'read' && (this.mode === 'read' || this.fields.includes(writing!)))
    if (!mayEnter) return false

    // One writer is inside at a time, so its client learns that what it had before is gone.
    if (side === 'write' && !this.java.includes(client))
      for (const hold of this.holds())
        if (hold.field.client === client && hold.state === 'held') hold.state = 'lost'
    const needed = lease ?? this.watchdog
    const readTimeouts = side === 'read' ? [this.now + needed] : []
    const field: Field = { side, client, caller, count: 1, readTimeouts }
    this.fields.push(field)
    this.mode ??= side
    this.expires = Math.max(free ? 0 : this.expires, this.now + needed)
    const hold: Hold = {
      field,
      levels: [{ lease, granted: this.now }],
      granted: this.now,
      lease: needed,
      state: 'held',
    }
    slot.current = hold
    return true
  }

  unlock(client: number, caller: number, side: Side): Answer {
    const slot = this.slot(client, caller, side)
    const hold = slot.current
    if (!hold && slot.owed === 0) return 'IllegalMonitorStateError'
    if (!hold) {
      slot.owed--
      return 'LockLostError'
    }
    hold.levels.pop()
    if (hold.levels.length === 0) slot.current = undefined
    if (hold.state !== 'held') return 'LockLostError'
    if (!this.fields.includes(hold.field)) {
      // What its other levels asked for may be over: then they have expired before the server answers.
      if (side === 'read' && this.restOfReader(hold) <= 0) this.expire(slot, hold)
      else hold.state = 'lost'
      return 'LockLostError'
    }
    this.releaseField(hold)
    return 'done'
  }

  /** Ends what the side holds; `client` is the one that does it, and learns of its own. */
  force(client: number, side: Side): Answer {
    const ended = this.fields.filter((field) => field.side === side)
    if (ended.length === 0 || (this.java.includes(client) && this.mode !== side)) return false
    this.fields = side === 'write' ? [] : this.fields.filter((field) => !ended.includes(field))
    this.tidy()
    // A writer takes along what it reads beside.
    for (const hold of this.holds())
      if (hold.field.client === client && hold.state === 'held')
        if (side === 'write' || ended.includes(hold.field)) hold.state = 'lost'
    return true
  }

  /** The client is gone; what it holds stays until it runs out. */
  kill(client: number): void {
    for (const key of [...this.slots.keys()]) if (key.startsWith(`${client} `)) this.slots.delete(key)
  }

  /** A third of the watchdog's lease passes: things run out, and every watchdog renews once. */
  advance(): void {
    this.now += this.watchdog / 3
    if (this.mode !== undefined && this.expires <= this.now) this.fields = []
    this.tidy()
    this.lookAtDeadlines()
    for (const hold of this.holds())
      if (hold.state === 'held' && hold.levels.some((level) => level.lease === undefined)) this.renew(hold)
  }

  /** The caller asks the server for its count, and learns if the hold is gone. */
  holdCount(client: number, caller: number, side: Side): number {
    const hold = this.slot(client, caller, side).current
    if (hold?.state !== 'held') return 0
    if (this.fields.includes(hold.field)) return hold.field.count
    hold.state = 'lost'
    return 0
  }

  isLocked(side: Side): boolean {
    return this.fields.some((field) => field.side === side)
  }

  /** How many levels an unlock() would still settle. */
  levels(client: number, caller: number, side: Side): number {
    const { current, owed } = this.slot(client, caller, side)
    return (current?.levels.length ?? 0) + owed
  }

  private reenter(hold: Hold, side: Side, lease: number | undefined): Answer {
    if (!this.fields.includes(hold.field)) {
      hold.state = 'lost'
      return 'LockLostError'
    }
    const needed = lease ?? this.watchdog
    hold.field.count++
    if (side === 'read') {
      hold.field.readTimeouts.push(this.now + needed)
      this.expires = Math.max(this.expires, this.now + needed)
    } else this.expires += needed
    hold.levels.push({ lease, granted: this.now })
    this.extend(hold, needed)
    return true
  }

  private releaseField(hold: Hold): void {
    if (hold.field.side === 'read') this.releaseRead(hold)
    else this.releaseWrite(hold)
  }

  private releaseRead(hold: Hold): void {
    const { field, levels } = hold
    field.count--
    field.readTimeouts.pop()
    if (levels.length > 0) {
      const need = this.restOfReader(hold)
      // A renewal that the released level needed also lengthened the leases of the others. Java leaves them so.
      if (!this.java.includes(field.client))
        field.readTimeouts = field.readTimeouts.map((end) => Math.min(end, this.now + need))
      const top = field.readTimeouts.length - 1
      if (need > 0) field.readTimeouts[top] = Math.max(field.readTimeouts[top]!, this.now + need)
      this.grant(hold, need)
    } else this.fields = this.fields.filter((each) => each !== field)
    this.tidy()
    if (this.mode === undefined) return
    const longest = this.longestClock()
    if (this.mode === 'write') this.expires = Math.max(this.expires, longest)
    else if (longest > this.now) this.expires = longest
    else this.fields = []
    this.tidy()
  }

  /** For how long the levels of a read hold need it from now on. */
  private restOfReader({ levels }: Hold): number {
    const rests = levels.map(({ lease, granted }) =>
      lease === undefined ? this.watchdog : granted + lease - this.now,
    )
    return Math.max(...rests)
  }

  private releaseWrite(hold: Hold): void {
    hold.field.count--
    const longest = this.longestClock()
    if (hold.levels.length > 0) {
      const lease = Math.max(...hold.levels.map((level) => level.lease ?? this.watchdog))
      this.expires = Math.max(this.now + lease, longest)
      this.grant(hold, lease)
      return
    }
    this.fields = this.fields.filter((field) => field !== hold.field)
    // Stepping down: only what is still alive is held on.
    if (longest > this.now) {
      this.mode = 'read'
      this.expires = longest
    } else this.fields = []
    this.tidy()
  }

  private renew(hold: Hold): void {
    if (!this.fields.includes(hold.field)) {
      hold.state = 'lost'
      return
    }
    const until = this.now + this.watchdog
    hold.field.readTimeouts = hold.field.readTimeouts.map((end) => Math.max(end, until))
    this.expires = Math.max(this.expires, until)
    this.extend(hold, this.watchdog)
  }

  private extend(hold: Hold, lease: number): void {
    if (this.now + lease <= hold.granted + hold.lease) return
    hold.granted = this.now
    hold.lease = lease
  }

  private grant(hold: Hold, lease: number): void {
    hold.granted = this.now
    hold.lease = lease
    this.lookAtDeadlines()
  }

  private expire(slot: Slot, hold: Hold): void {
    hold.state = 'expired'
    slot.current = undefined
    slot.owed += hold.levels.splice(0).length
  }

  private longestClock(): number {
    return Math.max(Number.NEGATIVE_INFINITY, ...this.fields.flatMap((field) => field.readTimeouts))
  }

  /** Holds without a watchdog end here when their deadline has passed, whatever the server has. */
  private lookAtDeadlines(): void {
    for (const slot of this.slots.values()) {
      const hold = slot.current
      if (hold?.state !== 'held' || hold.levels.some((level) => level.lease === undefined)) continue
      if (this.now < hold.granted + hold.lease - MARGIN) continue
      this.expire(slot, hold)
      // What has run out here may still be there for as long as other holds keep the key: it is released.
      if (this.fields.includes(hold.field)) this.releaseField(hold)
    }
  }

  private tidy(): void {
    if (this.fields.length === 0) this.mode = undefined
  }

  private *holds(): Iterable<Hold> {
    for (const { current } of this.slots.values()) if (current) yield current
  }

  private slot(client: number, caller: number, side: Side): Slot {
    const key = `${client} ${caller} ${side}`
    let slot = this.slots.get(key)
    if (!slot) {
      slot = { owed: 0 }
      this.slots.set(key, slot)
    }
    if (this.java.includes(client) && slot.current && !this.fields.includes(slot.current.field))
      slot.current = undefined
    return slot
  }
}
