import { IllegalMonitorStateError } from '../api/errors'
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
import { script } from '../scripts/script'
import type { ScriptCall } from '../scripts/script-call'
import { quote } from '../util/quote'
import { exclusive } from '../waiting/admission'
import type { Outcome } from '../waiting/attempt'
import { HASH_LOCK_RENEWAL } from './hash-lock-scripts'
import { ReadWriteSide } from './read-write-side'

const ACQUIRE = script('write-lock/acquire', decodeAcquire)
const REENTER = script('write-lock/reenter', decodeReenter)
const RELEASE = script('write-lock/release', decodeRelease)
const FORCE_RELEASE = script('write-lock/force-release', decodeRelease)
const INSPECT = script('write-lock/inspect', decodeInspect)

/** The write side: one hold at a time. While it is held, only its owner may read. It is renewed like a plain lock. */
export class WriteLockScripts extends ReadWriteSide implements LockScripts {
  readonly kind = 'write'
  readonly takesTurns = true
  readonly admission = exclusive
  readonly addsLeases = true
  readonly renewal = HASH_LOCK_RENEWAL

  constructor(name: string, key: string, context: Context) {
    super(name, key, context, 'write', { release: RELEASE, inspect: INSPECT })
  }

  override ownerField(threadId: number): string {
    return `${super.ownerField(threadId)}:write`
  }

  /** Throws for a reader that would wait to write, because it would wait for itself. A single try simply fails. */
  companion(caller: Caller, willWait: boolean): undefined {
    const reading = willWait ? this.companionHold(caller) : undefined
    if (reading)
      throw new IllegalMonitorStateError(
        `${caller.description} holds the read side of ${quote(this.name)} and wants to write ` +
          `(client ${this.context.clientId}, thread id ${reading.threadId}): it would wait for itself for ever. ` +
          'Release the read lock first and read the data again afterwards, or take the write lock from the start.',
      )
    return undefined
  }

  acquire(owner: string, lease: number): ScriptCall<Outcome<undefined>> {
    return this.context.scripts.run(ACQUIRE, this.guardedKeys, [owner, lease], true)
  }

  reenter(owner: string, lease: number, count: number, releasedEnd: number): ScriptCall<ReenterReply> {
    return this.run(REENTER, [owner, lease, count, releasedEnd], true)
  }

  forceRelease([owner = '']: readonly string[]): ScriptCall<ReleaseReply> {
    const { before, behind } = this.timeoutKeyParts
    return this.run(FORCE_RELEASE, [owner, this.channel, this.context.publishCommand, before, behind])
  }
}
