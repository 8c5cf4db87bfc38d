import type { JavaContext } from './context'
import { COUNT_DOWN, DELETE_LATCH, SET_ONCE, VALUE } from './counter-scripts'
import { latchMessage } from './entries'

/** A latch of a Java client. No TTL ends a sleep. */
export class JavaLatch {
  private readonly channel: string

  constructor(
    private readonly context: JavaContext,
    private readonly name: string,
  ) {
    this.channel = `redisson_countdownlatch__channel__{${name}}`
  }

  async trySetCount(count: number): Promise<boolean> {
    return Number(await this.run(SET_ONCE, count, '1')) === 1
  }

  async countDown(): Promise<void> {
    await this.run(COUNT_DOWN)
  }

  async getCount(): Promise<number> {
    return Number(await this.run(VALUE))
  }

  async delete(): Promise<boolean> {
    return Number(await this.run(DELETE_LATCH)) === 1
  }

  /** `wait`: in ms; undefined: for ever. Whether it opened in time. */
  async await(wait?: number): Promise<boolean> {
    const { port, entries } = this.context
    const end = wait === undefined ? undefined : port.now() + wait
    if ((await this.getCount()) <= 0) return true
    return await entries.listening(this.channel, latchMessage, async (entry) => {
      while ((await this.getCount()) > 0) {
        const left = end === undefined ? undefined : end - port.now()
        if (left !== undefined && left <= 0) return false
        if (!entry.isOpen) await entries.sleep(entry, left)
        // Java spins at an open gate with a new count. In virtual time something has to pass.
        else await new Promise<void>((resolve) => port.after(1, resolve))
      }
      return true
    })
  }

  private run(script: string, ...args: (string | number)[]): Promise<unknown> {
    return this.context.port.run(script, [this.name, this.channel], args)
  }
}
