import type { Context } from '../client/context'
import type { Caller } from '../engine/hold'
import {
  decodeAcquire,
  decodeInspect,
  decodeReenter,
  decodeRelease,
  type LockScripts,
  type ReenterReply,
  type ReleaseReply,
} from '../engine/lock-scripts'
import { renewalBy } from '../leases/lease'
import { script } from '../scripts/script'
import type { ScriptCall } from '../scripts/script-call'
import { shared } from '../waiting/admission'
import { GRANTED, type Outcome } from '../waiting/attempt'
import { ReadWriteSide, readTimeoutParts } from './read-write-side'

const ACQUIRE = script('read-lock/acquire', (raw) =>
  raw === 'alone' ? ({ ...GRANTED, isAlone: true } as const) : decodeAcquire(raw),
)
const REENTER = script('read-lock/reenter', decodeReenter)
const RELEASE = script('read-lock/release', decodeRelease)
const FORCE_RELEASE = script('read-lock/force-release', decodeRelease)
const INSPECT = script('read-lock/inspect', decodeInspect)

/** Renews read holds with the timeout keys of their levels. */
const RENEWAL = renewalBy('read-lock/renew', undefined, ({ leased, ownerField }) => {
  const { before, behind } = readTimeoutParts(leased.key)
  return [ownerField, before, behind]
})

/** The read side: many holds at a time. Each level has its own read timeout key. */
export class ReadLockScripts extends ReadWriteSide implements LockScripts {
  readonly kind = 'read'
  readonly shared = true
  readonly takesTurns = false
  readonly admission = shared
  readonly levelsKeepTheirEnd = true
  readonly exclusiveLockId = this.otherLockId
  readonly renewal = RENEWAL

  constructor(name: string, key: string, context: Context) {
    super(name, key, context, 'read', { release: RELEASE, inspect: INSPECT })
  }

  /** A caller that holds the write side may read as well. */
  companion(caller: Caller): string | undefined {
    return this.companionHold(caller)?.ownerField
  }

  acquire(owner: string, lease: number, companion: string | undefined): ScriptCall<Outcome<undefined>> {
    const keys = [this.key, this.timeoutKey(owner, 1)]
    return this.context.scripts.run(ACQUIRE, keys, [owner, lease, companion ?? ''], true)
  }

  reenter(owner: string, lease: number, count: number, releasedEnd: number): ScriptCall<ReenterReply> {
    const keys = [this.key, this.timeoutKey(owner, count)]
    return this.context.scripts.run(REENTER, keys, [owner, lease, count, releasedEnd], true)
  }

  forceRelease(owners: readonly string[]): ScriptCall<ReleaseReply> {
    const { before, behind } = this.timeoutKeyParts
    return this.run(FORCE_RELEASE, [before, behind, this.channel, this.context.publishCommand, ...owners])
  }

  private timeoutKey(owner: string, level: number): string {
    return `${this.timeoutKeyParts.before}${owner}${this.timeoutKeyParts.behind}${level}`
  }
}
