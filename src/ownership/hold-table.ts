import type { Mutex } from 'async-mutex'

/** The part of a hold that this folder needs. The engine above defines the rest. */
export interface OwnedHold {
  readonly lockId: string
  readonly levels: Iterable<{ readonly thread: object | undefined }>
}

/** The state of one caller and one lock. The table drops it as soon as the caller neither holds nor acquires the lock. */
export interface HoldEntry<H extends OwnedHold> {
  hold?: H
  /** Locked while an acquisition of its caller is in flight: a caller has one acquisition of a lock at a time. */
  acquiring?: Mutex
}

/** How many expired holds a table keeps, so that their late `unlock()` reports the loss. */
const MAX_EXPIRED_REMEMBERED = 1_000

/** The entries of one caller, or of several callers under different keys. */
export class HoldTable<H extends OwnedHold = OwnedHold> {
  private readonly entries = new Map<string, HoldEntry<H>>()
  private readonly expired = new Map<string, H>()

  get size(): number {
    return this.entries.size + this.expired.size
  }

  get(key: string): HoldEntry<H> | undefined {
    return this.entries.get(key)
  }

  getOrCreate(key: string): HoldEntry<H> {
    let entry = this.entries.get(key)
    if (!entry) {
      entry = {}
      this.entries.set(key, entry)
    }
    return entry
  }

  /** Drops the entry if it is empty. */
  tidy(key: string): void {
    const entry = this.entries.get(key)
    if (entry && !entry.hold && !entry.acquiring) this.entries.delete(key)
  }

  /** Moves an expired hold out of its entry: its caller can acquire again, and its late `unlock()` still finds it. */
  retire(key: string, hold: H): void {
    const entry = this.entries.get(key)
    if (entry?.hold !== hold) return
    delete entry.hold
    this.tidy(key)
    this.expired.delete(key)
    this.expired.set(key, hold)
    if (this.expired.size > MAX_EXPIRED_REMEMBERED) this.expired.delete(this.expired.keys().next().value!)
  }

  /** Its caller has released all of it. */
  forget(key: string, hold: H): void {
    const entry = this.entries.get(key)
    if (entry?.hold === hold) delete entry.hold
    if (this.expired.get(key) === hold) this.expired.delete(key)
    this.tidy(key)
  }

  retired(key: string): H | undefined {
    return this.expired.get(key)
  }
}

/** The place of an entry: its table, and its key there. */
export interface HoldRef<H extends OwnedHold = OwnedHold> {
  readonly table: HoldTable<H>
  readonly key: string
}
