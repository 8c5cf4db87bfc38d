import { setTimeout as sleep } from 'node:timers/promises'

/** Lets everything through while open, and holds it back, in order, while closed. */
export class Gate {
  private opening: Promise<void> | undefined
  private open: () => void = () => {}

  shut(): void {
    this.opening ??= new Promise((resolve) => {
      this.open = resolve
    })
  }

  release(): void {
    this.opening = undefined
    this.open()
  }

  async pass(): Promise<void> {
    while (this.opening) await this.opening
  }
}

/** One direction of a connection: what enters leaves later, behind the gate, in the same order. */
export class OneWay {
  private last: Promise<void> = Promise.resolve()
  private heldUntil = 0

  constructor(
    private readonly gate: Gate,
    private readonly delayMs: () => number,
  ) {}

  send(deliver: () => void): void {
    const due = performance.now() + this.delayMs()
    this.last = this.last.then(async () => {
      const wait = due - performance.now()
      if (wait > 0) await sleep(wait)
      await this.gate.pass()
      const held = this.heldUntil - performance.now()
      // A test that has ended does not wait for it.
      if (held > 0) await sleep(held, undefined, { ref: false })
      deliver()
    })
  }

  /** What has not left yet, and all that enters from now on, leaves after this many ms at the earliest. */
  hold(ms: number): void {
    this.heldUntil = performance.now() + ms
  }
}
