import type { Client } from '../client/client'
import { renewalBy } from '../leases/leased'
import { prefixed } from '../scripts/key-names'
import { type Admission, exclusive } from '../waiting/admission'
import { BaseLockKind, reentrantScriptsIn } from './base-lock-kind'

/** The channel on which the release of a lock is published. */
export function lockChannel(key: string): string {
  return prefixed('redisson_lock__channel', key)
}

const SCRIPTS = reentrantScriptsIn('lock')

/** Renews locks that are a hash with one lease. */
export const HASH_LOCK_RENEWAL = renewalBy('lock/renew')

/**
 * The common part of all locks that are a hash of one field in Redis: the field is the owner, its value the
 * hold count. Such locks of one name exclude each other, and an owner re-enters and releases through any of
 * them, as in Java.
 */
export class HashLockKind extends BaseLockKind {
  readonly kind: string = 'lock'
  readonly takesTurns: boolean = true
  readonly admission: () => Admission = exclusive
  protected readonly own = SCRIPTS
  readonly renewal = HASH_LOCK_RENEWAL

  constructor(name: string, key: string, client: Client) {
    // The waiters of a spin lock have a queue of their own.
    super(name, key, client, `lock ${key}`, lockChannel(key), `spin lock ${key}`)
  }
}
