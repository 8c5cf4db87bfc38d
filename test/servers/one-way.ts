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
      deliver()
    })
  }
}
