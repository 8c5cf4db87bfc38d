import type { Hold } from './hold'

/** What one caller has to do with one lock. Gone as soon as it neither holds nor acquires it. */
export interface Slot {
  hold?: Hold
  /** Settles when the acquisition under way has been answered. */
  acquiring?: Promise<unknown>
}

/** How many holds that ran out unreleased are remembered, so that their late `unlock()` is told so. */
const EXPIRED_REMEMBERED = 1_000

/** The slots of one caller, or of many under keys that tell them apart. */
export class SlotTable {
  private readonly slots = new Map<string, Slot>()
  private readonly expired = new Map<string, Hold>()

  get isEmpty(): boolean {
    return this.slots.size === 0 && this.expired.size === 0
  }

  get(key: string): Slot | undefined {
    return this.slots.get(key)
  }

  getOrCreate(key: string): Slot {
    let slot = this.slots.get(key)
    if (!slot) {
      slot = {}
      this.slots.set(key, slot)
    }
    return slot
  }

  /** Drops the slot if there is nothing in it any more. */
  tidy(key: string): void {
    const slot = this.slots.get(key)
    if (slot && !slot.hold && !slot.acquiring) this.slots.delete(key)
  }

  /** Takes an expired hold out of its slot: its caller starts afresh, only its unlock() is still awaited. */
  retire(key: string, hold: Hold): void {
    const slot = this.slots.get(key)
    if (slot?.hold !== hold) return
    delete slot.hold
    this.tidy(key)
    this.expired.delete(key)
    this.expired.set(key, hold)
    if (this.expired.size > EXPIRED_REMEMBERED) this.expired.delete(this.expired.keys().next().value!)
  }

  retired(key: string): Hold | undefined {
    return this.expired.get(key)
  }

  forgetRetired(key: string): void {
    this.expired.delete(key)
  }
}

/** Where a hold is kept for its caller. */
export interface SlotPlace {
  readonly table: SlotTable
  readonly key: string
}
