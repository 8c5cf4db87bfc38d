import type { Lease, Leased } from './lease'

/** Every live lease of one client, by key. */
export class LeaseRegistry {
  /** By key: usually one lease, and several where readers share the key. */
  private readonly leases = new Map<string, Lease | Set<Lease>>()
  private whenEmpty: (() => void) | undefined

  get size(): number {
    return this.leases.size
  }

  add(lease: Lease): void {
    const held = this.leases.get(lease.key)
    if (held === undefined) this.leases.set(lease.key, lease)
    else if (held instanceof Set) held.add(lease)
    else this.leases.set(lease.key, new Set([held, lease]))
  }

  delete(lease: Lease): void {
    const held = this.leases.get(lease.key)
    if (held instanceof Set) {
      if (!held.delete(lease) || held.size > 0) return
    } else if (held !== lease) return
    this.leases.delete(lease.key)
    if (this.leases.size === 0) this.whenEmpty?.()
  }

  has(lease: Lease): boolean {
    const held = this.leases.get(lease.key)
    return held instanceof Set ? held.has(lease) : held === lease
  }

  /** Resolves when nothing is held. */
  async empty(): Promise<void> {
    if (this.leases.size === 0) return
    await new Promise<void>((resolve) => {
      this.whenEmpty = resolve
    })
  }

  /** A live lease that keeps the waiters of this lock out, if there is one. */
  first({ key, lockIds }: Pick<Leased, 'key' | 'lockIds'>): Lease | undefined {
    for (const lease of this.on(key)) if (lockIds.includes(lease.lockId)) return lease
    return undefined
  }

  /** Every live lease on a key. */
  on(key: string): Iterable<Lease> {
    const held = this.leases.get(key)
    if (held === undefined) return []
    return held instanceof Set ? held : [held]
  }

  *all(): Iterable<Lease> {
    for (const key of this.leases.keys()) yield* this.on(key)
  }
}
