import type { Hold } from './hold'

/** Every live hold of one client, by lock. */
export class HoldRegistry {
  private readonly holds = new Map<string, Set<Hold>>()
  private whenEmpty: (() => void) | undefined

  add(hold: Hold): void {
    const held = this.holds.get(hold.lockId)
    if (held) held.add(hold)
    else this.holds.set(hold.lockId, new Set([hold]))
  }

  delete(hold: Hold): void {
    const held = this.holds.get(hold.lockId)
    if (!held?.delete(hold)) return
    if (held.size > 0) return
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
    return this.holds.get(lockId) ?? []
  }

  *all(): Iterable<Hold> {
    for (const held of this.holds.values()) yield* held
  }
}
