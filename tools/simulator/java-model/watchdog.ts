import type { JavaPort, Timer } from './port'

interface Renewed {
  /** The threads that hold it without a lease, with what renews their hold. The first one is renewed. */
  readonly threads: Map<number, () => Promise<unknown>>
}

/** Renews the holds of one client at every third of the timeout; of each key, the hold of the first thread. */
export class Watchdog {
  private readonly keys = new Map<string, Renewed>()
  private timer: Timer | undefined

  constructor(
    private readonly port: JavaPort,
    private readonly timeout: number,
  ) {}

  get size(): number {
    return this.keys.size
  }

  add(key: string, threadId: number, renew: () => Promise<unknown>): void {
    const renewed = this.keys.get(key) ?? { threads: new Map() }
    this.keys.set(key, renewed)
    if (!renewed.threads.has(threadId)) renewed.threads.set(threadId, renew)
    this.timer ??= this.arm()
  }

  remove(key: string, threadId: number): void {
    const renewed = this.keys.get(key)
    renewed?.threads.delete(threadId)
    if (renewed?.threads.size === 0) this.keys.delete(key)
    if (this.keys.size > 0) return
    this.timer?.cancel()
    this.timer = undefined
  }

  private arm(): Timer {
    return this.port.after(this.timeout / 3, () => void this.renewAll())
  }

  private async renewAll(): Promise<void> {
    await Promise.all(
      [...this.keys].map(async ([key, { threads }]) => {
        const [first] = threads
        if (!first) return
        const [threadId, renew] = first
        try {
          if (Number(await renew()) !== 1) this.remove(key, threadId)
        } catch {
          // It is renewed again after another third.
        }
      }),
    )
    this.timer = this.keys.size > 0 ? this.arm() : undefined
  }
}
