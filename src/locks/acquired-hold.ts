import { inspect } from 'node:util'
import { IllegalMonitorStateError } from '../api/errors'
import type { LockHold } from '../api/lock-hold'
import type { Hold, Level } from '../ownership/hold'
import { type ClientContext, isLive, quote } from './client-context'
import type { LockProtocol } from './lock-protocol'
import { release } from './releasing'

/** A LockHold: the right to release one level, once. */
export class AcquiredHold implements LockHold {
  private unlocked = false

  constructor(
    private readonly context: ClientContext,
    private readonly protocol: LockProtocol,
    readonly hold: Hold,
    readonly level: Level,
  ) {}

  get lockName(): string {
    return this.protocol.name
  }

  get threadId(): number {
    return this.hold.threadId
  }

  get signal(): AbortSignal {
    this.look()
    return this.hold.signal
  }

  get isHeld(): boolean {
    return this.look() && this.hold.levels.includes(this.level)
  }

  unlock(): Promise<void> {
    const { context, protocol, hold, level } = this
    if (this.unlocked) return Promise.reject(this.unlockedAlready())
    this.unlocked = true
    try {
      context.assertNotClosed()
    } catch (error) {
      return Promise.reject(error)
    }
    return release(context, protocol, hold, () => level)
  }

  private unlockedAlready(): IllegalMonitorStateError {
    return new IllegalMonitorStateError(
      `This hold on the lock ${quote(this.lockName)} was released already ` +
        `(client ${this.context.clientId}, thread id ${this.threadId}).`,
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.unlocked) await this.unlock()
  }

  // Logged, it must not show the client inside with its credentials.
  [inspect.custom](): string {
    return `LockHold(${quote(this.lockName)}, thread id ${this.threadId})`
  }

  toJSON(): object {
    return { lockName: this.lockName, threadId: this.threadId }
  }

  private look() {
    return isLive(this.context, this.hold)
  }
}
