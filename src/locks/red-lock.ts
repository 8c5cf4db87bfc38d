import type { AcquireArguments } from '../api/arguments'
import { LockQuorumError } from '../api/errors'
import type { Client } from '../client/client'
import { acquireAll } from '../multi/acquire-all'
import { acquireQuorum } from '../multi/acquire-quorum'
import { type MemberGroup, membersOf } from '../multi/member'
import { describeStates, errorsOf } from '../multi/member-states'
import { type FullAnswer, MembersCall } from '../multi/members-call'
import { MembersLock } from '../multi/members-lock'
import type { Answer } from '../multi/try-member'
import { codeOf } from '../util/error-code'
import { quote } from '../util/quote'
import { warnOnce } from '../util/warn-once'
import type { RMultiLock } from './multi-lock'

/**
 * Redisson's RedissonRedLock: locks on several independent servers as one. A caller holds it while it holds a
 * quorum of the members. A quorum is ⌊N/2⌋ + 1 of the N members, whether they can be reached or not.
 *
 * **Whether to use it.** It survives the loss of a minority of independent servers. It does not make one
 * server with replicas safer. Do not rely on it alone for work that must never happen twice: see
 * docs/guides/multi-lock.md.
 *
 * **How it acquires.** It tries all members at once. A member may take a tenth of the lease to answer; a
 * later grant is released. So a silent server costs that time at most. Without a quorum it releases all
 * members, waits for a member that another owner holds, and tries all again.
 *
 * **How it is held.** The hold is lost as soon as fewer members than a quorum are valid by the clock of this
 * process. With a lease it is valid for Redlock's time: the lease, less the time of the acquisition, less an
 * allowance for clock drift. The allowance is a hundredth of the lease and 2 ms, or the margin of each
 * member, whichever ends first. A server that restarts empty counts at once, although it may have forgotten a
 * holder: start it a lease later.
 *
 * `unlock()` releases all members. A minority that does not answer delays it by a second.
 *
 * **Different from Java.** All of the above. Java's subtracts no time, checks no clock while it holds, and
 * its `isHeldByCurrentThread` requires all members.
 *
 * **Errors.** If a quorum of the servers answers, and other owners hold so many that none is left, the result
 * is `false`. If no quorum could be reached or it answered too late, the call rejects with a LockQuorumError
 * with `members`. A loss is a LockLostError with `members`. `lock()` rejects when it reaches no quorum for 10
 * s. Members on one server are not independent: the process warns once (`RLOCK_ONE_SERVER`).
 */
export interface RRedLock extends RMultiLock {}

/** See the interface. */
export class RedLock extends MembersLock implements RRedLock {
  constructor(client: Client, locks: readonly unknown[]) {
    const members = membersOf(locks, 'RedLock')
    super(client, members, 'RedLock', Math.floor(members.length / 2) + 1, acquireMembers)
    const servers = members.flatMap(({ server }) => (server ? [server.id] : []))
    if (new Set(servers).size < servers.length)
      warnOnce(
        client,
        'RLOCK_ONE_SERVER',
        `Members of ${quote(this.group.name)} are on one server and fail together (client ` +
          `${client.clientId}), so they are no quorum. Use independent servers, each with its own client, ` +
          'or a plain lock.',
      )
  }
}

function acquireMembers(group: MemberGroup, options: AcquireArguments & { readonly waitTime: number }) {
  const { client } = group
  const { leaseTime, waitTime, maxHoldTime = client.options.maxHoldTime ?? Infinity } = options
  const watchdogLeases = group.members.map((member) => (member.client ?? client).lockWatchdogTimeout)
  const bound = (leaseTime ?? Math.min(...watchdogLeases, maxHoldTime)) / 10
  // Redlock's validity: the lease less an allowance for clocks that run at different rates.
  const validFor = leaseTime && leaseTime - (leaseTime * 0.01 + 2)
  // Others hold too many members, whatever the rest answers.
  const endsWithoutError = (answers: readonly FullAnswer[]) => countOf('taken', answers) > group.spare
  const failure = (answers: readonly FullAnswer[]) => misuse(answers) ?? quorumError(group, answers, bound)
  const call = new MembersCall(group, { ...options, validFor, endsWithoutError, failure })
  // A single try hears all members at once, and so does a call that needs not all of them.
  return group.spare > 0 || waitTime <= 0 ? acquireQuorum(call, bound) : acquireAll(call)
}

function countOf(wanted: Answer['kind'], answers: readonly Answer[]): number {
  return answers.filter(({ kind }) => kind === wanted).length
}

function quorumError(group: MemberGroup, answers: readonly FullAnswer[], bound: number) {
  const { name, client, members, needed } = group
  const states = answers.map(({ state }) => state)
  const isLate = countOf('granted', answers) >= needed
  const why = isLate ? 'a quorum answered, but too late' : 'no quorum could be reached'
  return new LockQuorumError(
    `The lock ${quote(name)} was not acquired, and nothing of it is held (client ${client.clientId}): ` +
      `${why} (${describeStates(states)}; ${needed} of ${members.length} are needed, each within ` +
      `${Math.round(bound)} ms). Try again when more members answer.`,
    name,
    states,
  )
}

/**
 * The error for the caller if all members that failed did so with the same error, and it does not come from a
 * server.
 */
function misuse(answers: readonly FullAnswer[]): unknown {
  const errors = errorsOf(answers)
  const [error] = errors
  const code = codeOf(error)
  const isSame = errors.every((each) => codeOf(each) === code)
  const isCallers = error instanceof TypeError || error instanceof RangeError
  const ofCaller: unknown[] = ['ILLEGAL_MONITOR_STATE', 'LOCK_LOST', 'REDISSON_SHUTDOWN']
  return isSame && (isCallers || ofCaller.includes(code)) ? error : undefined
}
