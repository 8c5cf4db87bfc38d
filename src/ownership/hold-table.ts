import type { Mutex } from 'async-mutex'
import type { OwnedHold } from './owned-hold'

/** What one caller has to do with one lock. Gone as soon as it neither holds nor acquires it. */
export interface HoldEntry<H extends OwnedHold> {
  hold?: H
  /** Locked while an acquisition of its caller is in flight: one caller does one thing at a time. */
  acquiring?: Mutex
}

/** How many holds that ran out unreleased are remembered, so that their late `unlock()` learns of it. */
const MAX_EXPIRED_REMEMBERED = 1_000

/** The entries of one caller, or of many under keys that distinguish them. */
export class HoldTable<H extends OwnedHold = OwnedHold> {
  private readonly entries = new Map<string, HoldEntry<H>>()
  private readonly expired = new Map<string, H>()

  get size(): number {
    return this.entries.size + this.expired.size
  }

  get isEmpty(): boolean {
    return this.entries.size === 0 && this.expired.size === 0
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

  /** Drops the entry if there is nothing in it any more. */
  tidy(key: string): void {
    const entry = this.entries.get(key)
    if (entry && !entry.hold && !entry.acquiring) this.entries.delete(key)
  }

  /** Takes an expired hold out of its entry: its caller starts afresh, only its unlock() is still awaited. */
  retire(key: string, hold: H): void {
    const entry = this.entries.get(key)
    if (entry?.hold !== hold) return
    delete entry.hold
    this.tidy(key)
    this.expired.delete(key)
    this.expired.set(key, hold)
    if (this.expired.size > MAX_EXPIRED_REMEMBERED) this.expired.delete(this.expired.keys().next().value!)
  }

  retired(key: string): H | undefined {
    return this.expired.get(key)
  }

  forgetRetired(key: string): void {
    this.expired.delete(key)
  }
}

/** Where a hold is kept for its caller. */
export interface HoldRef<H extends OwnedHold = OwnedHold> {
  readonly table: HoldTable<H>
  readonly key: string
}
