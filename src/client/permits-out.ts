interface Out {
  readonly objectId: string
  count: number
}

/**
 * How many permits the callers of one client have, where no object of this package keeps them: shutdown()
 * waits for their release as for that of a hold.
 */
export class PermitsOut {
  /** By object; only those of which permits are out. */
  private readonly objects = new Map<string, Out>()
  /** The one that was used last: callers may pass permits of one semaphore on a million times a second. */
  private last: Out | undefined
  private whenNone: (() => void) | undefined

  took(objectId: string, permits: number): void {
    if (permits > 0) this.of(objectId).count += permits
  }

  /** Another client may have taken some of them, so the number stays at zero or above. */
  released(objectId: string, permits: number): void {
    const out = this.of(objectId)
    out.count -= permits
    if (out.count > 0) return
    this.objects.delete(objectId)
    this.last = undefined
    if (this.objects.size === 0) this.whenNone?.()
  }

  /** Resolves when no permit is out. */
  async none(): Promise<void> {
    if (this.objects.size === 0) return
    await new Promise<void>((resolve) => {
      this.whenNone = resolve
    })
  }

  private of(objectId: string): Out {
    if (this.last?.objectId === objectId) return this.last
    const out = this.objects.get(objectId) ?? { objectId, count: 0 }
    this.objects.set(objectId, out)
    this.last = out
    return out
  }
}
