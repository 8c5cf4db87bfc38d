import type { Client } from '../client/client'
import type { AttemptOptions, LockAttempt } from '../engine/lock-kind'
import { renewalBy } from '../leases/leased'
import type { ScriptCall } from '../scripts/script-call'
import { type Next, queueBeside, Shared, type TryReply, type Waiters } from '../waiting/admission'
import type { Attempt, Outcome } from '../waiting/attempt'
import type { AnyWaiter } from '../waiting/waiter'
import { AcquireAttempt, reentrantScriptsIn } from './base-lock-kind'
import { ReadWriteSide, readTimeoutParts } from './read-write-side'

const SCRIPTS = reentrantScriptsIn('read-lock')

/** Renews read holds with the timeout keys of their levels. */
const RENEWAL = renewalBy('read-lock/renew', undefined, ({ leased, ownerField }) => [
  ownerField,
  ...readTimeoutParts(leased.key),
])

/** When one reader has entered, all readers may. */
class ReadersTogether extends Shared {
  private isOpen = false

  override next(reply: TryReply, attempt: Attempt<unknown>, waiters: Waiters): Next {
    this.isOpen = reply.value.granted
    return super.next(reply, attempt, waiters)
  }

  override together(waiters: Waiters): Iterable<AnyWaiter> {
    return this.isOpen ? waiters : super.together(waiters)
  }
}

/** The read side: many holds at a time. Each level has its own read timeout key. */
export class ReadLockKind extends ReadWriteSide {
  readonly kind = 'read'
  protected readonly own = SCRIPTS
  readonly shared = true
  readonly takesTurns = false
  readonly admission = () => new ReadersTogether()
  readonly exclusiveLockId = this.otherLockId
  readonly renewal = RENEWAL

  constructor(name: string, key: string, client: Client) {
    super(name, key, client, 'read', `write ${key}`)
  }

  override newAttempt(options: AttemptOptions, waitTime: number): LockAttempt {
    const companion = this.companionHold(options.caller)?.ownerField
    if (companion === undefined) return super.newAttempt(options, waitTime)
    return new WriterReads(this, options, waitTime, companion)
  }

  override acquire(owner: string, lease: number, companion = ''): ScriptCall<Outcome<undefined>> {
    const keys = [this.key, this.timeoutKey(owner, 1)]
    return this.client.scripts.run(SCRIPTS.acquire, keys, [owner, lease, companion], true)
  }

  override reenter(owner: string, lease: number, count: number, releasedEnd: number) {
    const keys = [this.key, this.timeoutKey(owner, count)]
    return this.client.scripts.run(SCRIPTS.reenter, keys, [owner, lease, count, releasedEnd], true)
  }

  private timeoutKey(owner: string, level: number): string {
    const [before, behind] = this.timeoutKeyParts
    return `${before}${owner}${behind}${level}`
  }
}

/**
 * A caller that holds the write side may read as well, and at once: it must not queue behind readers, which
 * wait for the end of its write hold.
 */
class WriterReads extends AcquireAttempt<ReadLockKind> {
  constructor(
    kind: ReadLockKind,
    options: AttemptOptions,
    waitTime: number,
    private readonly companion: string,
  ) {
    super(kind, options, waitTime, queueBeside(kind, `companion ${companion}`))
  }

  override send(): ScriptCall<Outcome<undefined>> {
    return this.kind.acquire(this.owner, this.lease, this.companion)
  }
}
