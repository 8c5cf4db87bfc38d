import type { AcquireArguments } from '../api/arguments'
import type { Context } from '../client/context'
import { collectQuorum } from '../multi/collect-quorum'
import { type Member, membersOf } from '../multi/member'
import type { UnionHold } from '../multi/union-hold'
import { UnionLock } from '../multi/union-lock'
import { quote } from '../util/quote'
import type { RMultiLock } from './multi-lock'

/**
 * Redisson's RedissonRedLock: locks on several independent servers as one, held while a quorum of them is held. A
 * quorum is ⌊N/2⌋ + 1 of the N that were given, reached or not.
 *
 * **Whether to use it.** It survives the loss of a minority of servers that know nothing of each other. It does not
 * make one server with replicas safer, and nothing that must never happen twice may rest on it alone: see
 * docs/guides/multi-lock.md.
 *
 * **How it acquires.** It asks all members at once, and is decided as soon as a quorum is certain either way. A member
 * may take a tenth of the lease to answer. One that answers later than the quorum and within that time joins; what is
 * granted after that is released. Then it waits, holding nothing, for a member that others hold, and asks all again.
 *
 * **How it is held.** The hold is lost as soon as fewer than a quorum are valid by the clock of this process. With a
 * lease it is valid for Redlock's time: the lease, less the time that acquiring took, less an allowance for drift (a
 * hundredth of the lease and 2 ms, or the margin of each member, whichever ends first). A server that this client saw
 * start anew is not counted for one lease: it may have forgotten a holder.
 *
 * `unlock()` releases all members, and resolves as soon as a quorum is released: a stalled server costs nothing.
 * **Different from Java.** All of the above; Java's subtracts no time, counts no clocks while it holds, and
 * `isHeldByCurrentThread` asks for all members.
 *
 * **Errors.** A quorum that others hold is `false`, one that could not be reached or answered too late is a
 * LockQuorumError with `members`; a loss is a LockLostError with `members`. `lock()` rejects where it meets no quorum
 * for 10 s. N members on one server are no quorum of anything: the process warns once (`RLOCK_ONE_SERVER`).
 */
export interface RRedLock extends RMultiLock {}

/** Clients that have warned. */
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
    `Members of ${quote(name)} are on one server, which fails as one: they are no quorum. Use independent servers, each ` +
      'with a client of its own, or a plain lock.',
    { code: 'RLOCK_ONE_SERVER' },
  )
}
