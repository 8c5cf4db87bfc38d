import type { PermitsWanted } from '../api/semaphore-arguments'
import type { ScriptCall } from '../scripts/script-call'
import { quote } from '../util/quote'
import type { Attempt, Outcome } from '../waiting/attempt'
import { untilRecheck } from '../waiting/wait-policy'
import type { Synchronizer } from './synchronizer'

/** The value of `left` if the semaphore does not exist. */
export const NO_SEMAPHORE = -1

/** One caller's attempt to acquire permits of a semaphore. */
export abstract class PermitsAttempt implements Attempt<undefined> {
  /** How long a waiter behind this one sleeps at most, in ms. */
  readonly lease = untilRecheck()
  readonly needs: number
  readonly waitTime: number | undefined
  readonly signal: AbortSignal | undefined
  protected isAbsent = false
  private hasWarned = false

  constructor(
    protected readonly semaphore: Synchronizer,
    { permits, waitTime, signal }: PermitsWanted,
  ) {
    this.needs = permits
    this.waitTime = waitTime
    this.signal = signal
  }

  get subject(): string {
    return `permits of the semaphore ${quote(this.semaphore.name)}`
  }

  abstract send(): ScriptCall<Outcome<undefined>>

  waitedLong(): void {
    if (!this.isAbsent || this.hasWarned) return
    this.hasWarned = true
    const { clientId } = this.semaphore.context
    process.emitWarning(
      `A caller has waited for 5 s for ${this.subject}, and there is no such semaphore (client ${clientId}): no ` +
        'client has set its permits, or it was deleted or has expired. Call trySetPermits() before the first acquisition.',
      { code: 'RLOCK_NO_SUCH_SEMAPHORE' },
    )
  }
}
