/**
 * How many permits the callers of one client have, where no object of this package keeps them: shutdown()
 * waits for their release as for that of a hold.
 */
export class PermitsOut {
  /** By object; only those of which permits are out. */
  private readonly out = new Map<string, number>()
  private whenNone: (() => void) | undefined

  took(objectId: string, permits: number): void {
    if (permits > 0) this.out.set(objectId, (this.out.get(objectId) ?? 0) + permits)
  }

  /** Another client may have taken some of them, so the number stays at zero or above. */
  released(objectId: string, permits: number): void {
    const left = (this.out.get(objectId) ?? 0) - permits
    if (left > 0) this.out.set(objectId, left)
    else this.out.delete(objectId)
    if (this.out.size === 0) this.whenNone?.()
  }

  /** Resolves when no permit is out. */
  async none(): Promise<void> {
    if (this.out.size === 0) return
    await new Promise<void>((resolve) => {
      this.whenNone = resolve
    })
  }
}
