import type { LockCalls } from '../api/lock-calls'
import type { Client } from '../client/client'
import type { Caller, Hold } from '../engine/hold'
import type { ReleaseReply } from '../engine/release-reply'
import { renewalBy } from '../leases/leased'
import { prefixed } from '../scripts/key-names'
import { script } from '../scripts/script'
import type { ScriptCall } from '../scripts/script-call'
import { random, randomHex } from '../util/random'
import { warnOnce } from '../util/warn-once'
import { type Outcome, outcomeOf } from '../waiting/attempt'
import { AcquireAttempt, BaseLockKind, scriptsIn } from './base-lock-kind'
import { reentryRefused } from './non-reentrant-lock'
import { type BackOffPolicy, Spinning } from './spin-lock'

/**
 * The lock that most other libraries use: `SET key token NX PX lease`; a release or a renewal compares the
 * token. So Node shares locks with redlock and redis-semaphore on npm, redis-py, redsync and Jedis recipes.
 * Redisson does not have it.
 *
 * **The key** is the name without a change. The Mutex of redis-semaphore puts `mutex:` before its key: use
 * `getTokenLock('mutex:' + key)`. A token lock and a plain lock of one name reject each other with
 * WrongTypeError.
 *
 * **Not re-entrant.** A logical thread, or a `threadId`, that holds the lock and acquires it again is
 * rejected with IllegalMonitorStateError. RLock describes callers, units of time, errors and lost locks; the
 * same holds here.
 *
 * **Renewal.** The watchdog renews it like every lock, unless it has a `leaseTime`.
 *
 * **Waiting.** This package publishes its releases on a channel of its own, so that its waiters wake at once.
 * Other libraries publish nothing. So the first waiter of a process tries again after 20 ms, and then after
 * twice as long each time, up to 1 s. Waiters of one process hand the lock to each other for up to 10 ms;
 * then the lock is free for all processes.
 *
 * **A key without expiry** counts as held. A caller that has waited behind such a key for 5 s gets a process
 * warning with the code RLOCK_NO_EXPIRY, because it may wait for ever. A key that is not a string is a
 * WrongTypeError.
 */
export interface TokenLock extends LockCalls {
  /** The name given to `getTokenLock`, before any name mapper. */
  getName(): string

  /**
   * Ends the hold that it finds, of any library; resolves with whether it did. It leaves a later hold alone.
   */
  forceUnlock(): Promise<boolean>
  /** Whether the lock is held, by any client. Asks the primary. */
  isLocked(): Promise<boolean>
}

/** The channel on which its release is published. */
export function tokenLockChannel(key: string): string {
  return prefixed('rlock_token', key)
}

const SCRIPTS = scriptsIn('token-lock')
const HAND_OFF = script('token-lock/handoff', outcomeOf)

const TOKEN_BYTES = 16
const FIRST_PAUSE = 20
const LONGEST_PAUSE = 1_000

/**
 * Pauses from 20 ms, doubling to 1 s. Each is shortened by up to a fifth, so that processes do not try at the
 * same time.
 */
const DOUBLING: BackOffPolicy = {
  nextSleepPeriod: (tries) => Math.min(FIRST_PAUSE * 2 ** (tries - 1), LONGEST_PAUSE) * (1 - random() / 5),
}

const RENEWAL = renewalBy('token-lock/renew')

/** The scripts of the token lock. A hold has one level, and a token in place of its owner field. */
export class TokenLockKind extends BaseLockKind {
  readonly kind = 'token'
  protected readonly own = SCRIPTS
  readonly shownAs = 'TokenLock'
  protected override readonly Attempt = TokenAttempt
  readonly ownerIsSecret = true
  readonly takesTurns = true
  readonly admission = () => new Spinning(DOUBLING)
  readonly renewal = RENEWAL

  constructor(name: string, key: string, client: Client) {
    super(name, key, client, `token ${key}`, tokenLockChannel(key))
  }

  /** The token. It is not derived from the thread id: every client that knows it can release the lock. */
  override ownerField(): string {
    return randomHex(TOKEN_BYTES)
  }

  refuseReentry(hold: Hold, caller: Caller): never {
    throw reentryRefused(this, hold, caller, 'getLock()')
  }

  override release(token: string): ScriptCall<ReleaseReply> {
    const args = [token, this.channel, this.client.publishCommand]
    return this.client.scripts.run(SCRIPTS.release, this.guardedKeys, args)
  }
}

/** Warns once when it has waited for a long time behind a key that never expires. */
class TokenAttempt extends AcquireAttempt<TokenLockKind> {
  private isBehindNoExpiry = false

  override send(): ScriptCall<Outcome<undefined>> {
    const call = super.send()
    call.whenAnswered(({ value }) => {
      this.isBehindNoExpiry = !value.granted && value.blockedFor === Number.POSITIVE_INFINITY
    })
    return call
  }

  takeOver(giver: string): ScriptCall<Outcome<undefined>> {
    const { kind, owner, lease } = this
    return kind.client.scripts.run(HAND_OFF, [kind.key], [giver, owner, lease], true)
  }

  waitedLong(): void {
    if (!this.isBehindNoExpiry) return
    warnOnce(
      this,
      'RLOCK_NO_EXPIRY',
      `A caller has waited for ${this.target.subject} for 5 s, and its key has no expiry (client ` +
        `${this.kind.client.clientId}): the key is no lock, or its holder died between SETNX and EXPIRE. ` +
        'The wait may never end. Check what the key is. If nothing holds the lock, delete the key or call ' +
        'forceUnlock().',
    )
  }
}
