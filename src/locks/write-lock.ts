import { IllegalMonitorStateError } from '../api/errors'
import type { Client } from '../client/client'
import type { AttemptOptions, LockAttempt } from '../engine/lock-kind'
import { quote } from '../util/quote'
import { exclusive } from '../waiting/admission'
import { reentrantScriptsIn } from './base-lock-kind'
import { HASH_LOCK_RENEWAL } from './hash-lock-kind'
import { ReadWriteSide } from './read-write-side'

const SCRIPTS = reentrantScriptsIn('write-lock')

/**
 * The write side: one hold at a time. While it is held, only its owner may read. It is renewed like a plain
 * lock.
 */
export class WriteLockKind extends ReadWriteSide {
  readonly kind = 'write'
  protected readonly own = SCRIPTS
  readonly takesTurns = true
  readonly admission = exclusive
  readonly addsLeases = true
  readonly renewal = HASH_LOCK_RENEWAL

  constructor(name: string, key: string, client: Client) {
    super(name, key, client, 'write', `read ${key}`)
  }

  override ownerField(threadId: number): string {
    return `${super.ownerField(threadId)}:write`
  }

  /**
   * Throws for a reader that would wait to write, because it would wait for itself. A single try simply
   * fails.
   */
  override newAttempt(options: AttemptOptions, waitTime: number): LockAttempt {
    const { caller } = options
    const reading = waitTime > 0 ? this.companionHold(caller) : undefined
    if (reading)
      throw new IllegalMonitorStateError(
        `${caller.description} holds the read side of ${quote(this.name)} and wants to write (client ` +
          `${this.client.clientId}, thread id ${reading.threadId}): it would wait for itself for ever. ` +
          'Release the read lock first and read the data again afterwards, or take the write lock from the ' +
          'start.',
      )
    return super.newAttempt(options, waitTime)
  }
}
