import type { Hold } from './hold'

/** Every live hold of one client, by lock. */
export class HoldRegistry {
  /** One as a rule; readers are several. */
  private readonly holds = new Map<string, Hold | Set<Hold>>()
  private whenEmpty: (() => void) | undefined

  add(hold: Hold): void {
    const held = this.holds.get(hold.lockId)
    if (held === undefined) this.holds.set(hold.lockId, hold)
    else if (held instanceof Set) held.add(hold)
    else this.holds.set(hold.lockId, new Set([held, hold]))
  }

  delete(hold: Hold): void {
    const held = this.holds.get(hold.lockId)
    if (held instanceof Set) {
      if (!held.delete(hold) || held.size > 0) return
    } else if (held !== hold) return
    this.holds.delete(hold.lockId)
    if (this.holds.size === 0) this.whenEmpty?.()
  }

  /** Resolves when nothing is held. */
  async empty(): Promise<void> {
    if (this.holds.size === 0) return
    await new Promise<void>((resolve) => {
      this.whenEmpty = resolve
    })
  }

  /** Any live hold on one of these locks. */
  first(lockIds: readonly string[]): Hold | undefined {
    for (const lockId of lockIds) for (const hold of this.on(lockId)) return hold
    return undefined
  }

  on(lockId: string): Iterable<Hold> {
    const held = this.holds.get(lockId)
    if (held === undefined) return []
    return held instanceof Set ? held : [held]
  }

  *all(): Iterable<Hold> {
    for (const lockId of this.holds.keys()) yield* this.on(lockId)
  }
}
