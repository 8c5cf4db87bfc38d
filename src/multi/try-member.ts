import type { AcquireArguments } from '../api/arguments'
import type { LockQuorumError } from '../api/errors'
import type { LockHold } from '../api/lock-hold'
import { unlessAborted } from '../util/abort'
import type { Clock, Moment } from '../util/clock'
import { codeOf } from '../util/error-code'
import type { Member } from './member'

/** The hold of a member. One of this package knows when its acquisition was sent. */
interface MemberHold extends LockHold {
  readonly level?: { readonly sent: Moment }
}

/** The answer of a member that was acquired. */
export interface Granted {
  readonly kind: 'granted'
  readonly member: Member
  readonly hold: MemberHold
}

/** The answer of a member. `unheard`: the round ended before it came, so it says nothing of the member. */
export type Answer =
  | Granted
  | { readonly kind: 'taken'; readonly member: Member }
  | { readonly kind: 'failed' | 'unheard'; readonly member: Member; readonly error: unknown }

/** Tries to acquire a member once. Settles as soon as the signal aborts; a later grant is released. */
export async function tryMember(
  member: Member,
  waitTime: number,
  { leaseTime, maxHoldTime, threadId, signal }: AcquireArguments,
): Promise<Answer> {
  let acquiring: Promise<LockHold | undefined> | undefined
  try {
    signal?.throwIfAborted()
    // A foreign lock may return no promise, or throw where it should reject.
    const options = { waitTime, leaseTime, maxHoldTime, threadId, signal }
    acquiring = Promise.resolve(member.lock.tryAcquire(options))
    const hold = await unlessAborted(acquiring, signal)
    return hold ? { kind: 'granted', member, hold } : { kind: 'taken', member }
  } catch (error) {
    acquiring?.then((late) => late?.unlock()).catch(() => {})
    return { kind: 'failed', member, error }
  }
}

/** Whether a retry may help. Any other error would come again. */
export function isTransient(error: unknown): boolean {
  const code = codeOf(error)
  if (code === 'REDIS_UNAVAILABLE') return true
  // A RedLock is the member: a quorum of it did not answer in time.
  if (code !== 'LOCK_QUORUM') return false
  return (error as LockQuorumError).members.some(({ state }) => state === 'unreachable' || state === 'late')
}

/** How much of a wait is left. */
export class Wait {
  private readonly started: Moment

  constructor(
    private readonly clock: Clock,
    private readonly ms: number,
  ) {
    this.started = clock.now()
  }

  /** In ms. */
  get elapsed(): number {
    return this.clock.elapsedSince(this.started)
  }

  /** In ms; the greatest safe integer for a wait without limit: a foreign lock may take no Infinity. */
  get left(): number {
    return Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, this.ms - this.elapsed))
  }

  get isOver(): boolean {
    return this.left <= 0
  }

  get isOneTry(): boolean {
    return this.ms <= 0
  }
}
