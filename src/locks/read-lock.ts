import type { Client } from '../client/client'
import type { Caller } from '../engine/hold'
import type { LockKind } from '../engine/lock-kind'
import { renewalBy } from '../leases/lease'
import type { ScriptCall } from '../scripts/script-call'
import { type Next, Shared, type TryReply } from '../waiting/admission'
import type { Attempt, Outcome } from '../waiting/attempt'
import type { AnyWaiter, Waiters } from '../waiting/waiter'
import { scriptsIn } from './named-lock'
import { ReadWriteSide, readTimeoutParts } from './read-write-side'

const SCRIPTS = scriptsIn('read-lock')

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
export class ReadLockKind extends ReadWriteSide implements LockKind {
  readonly kind = 'read'
  protected readonly own = SCRIPTS
  readonly shared = true
  readonly takesTurns = false
  readonly admission = () => new ReadersTogether()
  readonly exclusiveLockId = this.otherLockId
  readonly renewal = RENEWAL

  constructor(name: string, key: string, client: Client) {
    super(name, key, client, 'read', 'write')
  }

  /** A caller that holds the write side may read as well. */
  companion(caller: Caller): string | undefined {
    return this.companionHold(caller)?.ownerField
  }

  override acquire(owner: string, lease: number, companion?: string): ScriptCall<Outcome<undefined>> {
    const keys = [this.key, this.timeoutKey(owner, 1)]
    return this.client.scripts.run(SCRIPTS.acquire, keys, [owner, lease, companion ?? ''], true)
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
