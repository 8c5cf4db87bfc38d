import type { PermitsWanted } from '../api/arguments'
import { prefixed } from '../scripts/key-names'
import type { ScriptCall } from '../scripts/script-call'
import { queueMicrotask } from '../util/timers'
import { warnOnce } from '../util/warn-once'
import { type Next, Shared, type TryReply, type Waiters } from '../waiting/admission'
import type { Attempt, Outcome } from '../waiting/attempt'
import type { AnyWaiter } from '../waiting/waiter'
import type { Synchronizer } from './synchronizer'

/** The channel on which both kinds of semaphores publish. */
export function semaphoreChannel(key: string): string {
  return prefixed('redisson_sc', key)
}

/**
 * How many permits are free after the try; below 0: there is no such semaphore, or it is in debt. Undefined:
 * not known.
 */
export type PermitsAnswer = Outcome<undefined> & { readonly free?: number | undefined }

/** The value of `free` if the semaphore does not exist. */
export const NO_SEMAPHORE = -1

/** One caller's attempt to acquire permits of a semaphore. */
export abstract class BasePermitsAttempt implements Attempt<undefined> {
  readonly waitTime: number
  readonly signal: AbortSignal | undefined
  /** How many permits were free at its last try, if they were too few. */
  protected free: number | undefined

  constructor(
    protected readonly semaphore: Synchronizer,
    readonly wanted: PermitsWanted,
  ) {
    this.waitTime = wanted.waitTime ?? semaphore.client.options.waitTime
    this.signal = wanted.signal
  }

  send(): ScriptCall<PermitsAnswer> {
    const call = this.ask()
    call.whenAnswered(({ value }) => {
      if (!value.granted) this.blocked(value)
    })
    return call
  }

  protected abstract ask(): ScriptCall<PermitsAnswer>

  /** Its try was answered, and too few permits are free. */
  protected blocked({ free }: PermitsAnswer): void {
    this.free = free
  }

  ended(granted: boolean): void {
    if (granted || (this.free ?? 0) <= 0) return
    // Permits are free, but too few for this request. The next one may need less.
    const { client, target } = this.semaphore
    queueMicrotask(() => client.queues.of(target)?.wake())
  }

  waitedLong(): void {
    if (this.free !== NO_SEMAPHORE) return
    const { client, target } = this.semaphore
    warnOnce(
      this,
      'RLOCK_NO_SUCH_SEMAPHORE',
      `A caller has waited for 5 s for ${target.subject}, and there is no such semaphore (client ` +
        `${client.clientId}): no client has set its permits, or it was deleted or has expired. Call ` +
        'trySetPermits() before the first acquisition.',
    )
  }
}

/** After a grant, as many waiters try together as permits are free by the last answer. */
export class PermitsTogether extends Shared {
  /** How many permits are free by the last answer, less those for which waiters have asked since. */
  protected free: number | undefined

  override next(reply: TryReply, attempt: Attempt<unknown>, waiters: Waiters): Next {
    this.free = (reply.value as PermitsAnswer).free
    return super.next(reply, attempt, waiters)
  }

  /** Not the ones behind a request that is too large: they would overtake it. */
  override *together(waiters: Waiters): Iterable<AnyWaiter> {
    for (const waiter of waiters) {
      const { permits } = (waiter.attempt as BasePermitsAttempt).wanted
      const { free = 0 } = this
      if (permits > free && waiter !== waiters.first) return
      if (free > 0) this.free = Math.max(0, free - permits)
      yield waiter
    }
  }
}
