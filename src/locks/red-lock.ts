import type { AcquireArguments } from '../api/arguments'
import type { Context } from '../client/context'
import { collectQuorum } from '../multi/collect-quorum'
import { type Member, membersOf } from '../multi/member'
import type { UnionHold } from '../multi/union-hold'
import { UnionLock } from '../multi/union-lock'
import { quote } from '../util/quote'
import type { RMultiLock } from './multi-lock'

/**
 * Redisson's RedissonRedLock: locks on several independent servers as one. A caller holds it while it holds a quorum of the
 * members. A quorum is ⌊N/2⌋ + 1 of the N members, whether they can be reached or not.
 *
 * **Whether to use it.** It survives the loss of a minority of independent servers. It does not make one server with
 * replicas safer. Do not rely on it alone for work that must never happen twice: see docs/guides/multi-lock.md.
 *
 * **How it acquires.** It tries all members at once, and decides as soon as the result is certain. A member may take a tenth of
 * the lease to answer. A member that is granted after the quorum and within that time joins the hold; a later grant is
 * released. Without a quorum it releases all members, waits for a member that another owner holds, and tries all again.
 *
 * **How it is held.** The hold is lost as soon as fewer members than a quorum are valid by the clock of this process. With a
 * lease it is valid for Redlock's time: the lease, less the time of the acquisition, less an allowance for clock drift. The
 * allowance is a hundredth of the lease and 2 ms, or the margin of each member, whichever ends first. A server that this
 * client saw restart does not count for one lease, because it may have forgotten a holder.
 *
 * `unlock()` releases all members, and resolves as soon as a quorum is released, so a stalled server causes no delay.
 * **Different from Java.** All of the above. Java's subtracts no time, checks no clock while it holds, and its
 * `isHeldByCurrentThread` requires all members.
 *
 * **Errors.** If other owners hold a quorum, the result is `false`. If no quorum could be reached or it answered too late,
 * the call rejects with a LockQuorumError with `members`. A loss is a LockLostError with `members`. `lock()` rejects when it
 * reaches no quorum for 10 s. Members on one server are not independent: the process warns once (`RLOCK_ONE_SERVER`).
 */
export interface RRedLock extends RMultiLock {}

/** The clients that have warned already. */
const warned = new WeakSet<Context>()

/** See the interface. */
export class RedLock extends UnionLock implements RRedLock {
  private readonly watchdogLease: number

  constructor(context: Context, locks: readonly unknown[]) {
    const members = membersOf(locks, 'RedLock')
    super(context, members, 'RedLock', Math.floor(members.length / 2) + 1)
    const leases = members.map(({ identity }) => identity?.context.lockWatchdogTimeout)
    this.watchdogLease = Math.min(...leases.map((lease) => lease ?? context.lockWatchdogTimeout))
    warnOfOneServer(context, members, this.union.name)
  }

  protected collect(options: AcquireArguments): Promise<UnionHold | undefined> {
    return collectQuorum(this.union, this.members, { ...options, watchdogLease: this.watchdogLease }, () =>
      this.context.assertOpen(),
    )
  }
}

function warnOfOneServer(context: Context, members: readonly Member[], name: string) {
  const servers = members.flatMap(({ identity }) => (identity ? [identity.context.server.id] : []))
  if (new Set(servers).size === servers.length || warned.has(context)) return
  warned.add(context)
  process.emitWarning(
    `Members of ${quote(name)} are on one server and fail together (client ${context.clientId}), so they are no quorum. Use ` +
      'independent servers, each with its own client, or a plain lock.',
    { code: 'RLOCK_ONE_SERVER' },
  )
}
