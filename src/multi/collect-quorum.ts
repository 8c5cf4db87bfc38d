import type { AcquireArguments } from '../api/arguments'
import { LockQuorumError, RedissonError } from '../api/errors'
import type { Moment } from '../util/clock'
import { quote } from '../util/quote'
import { random } from '../util/random'
import { type Member, toYield, type Union } from './member'
import { describeStates } from './member-states'
import { QuorumRound, type Verdict } from './quorum-round'
import { isTransient, type Part, pause, tryMember, Wait } from './try-member'
import { UnionHold } from './union-hold'

/**
 * The longest wait between two rounds, in ms, in the queue of one member that another owner holds. A random part is
 * subtracted. It is bounded because that member may not belong to the quorum of the current holder.
 */
const LONGEST_WAIT_FOR_ONE = 1_000
/** The pause between two rounds if there is no such member, in ms. */
const PAUSE = 200
/** A call that reaches no quorum for this long, in ms, rejects. */
const UNREACHABLE_AFTER = 10_000

export interface QuorumOptions extends AcquireArguments {
  /** The lease of members without one, in ms. */
  readonly watchdogLease: number
}

/** Acquires a quorum of the members. Undefined when others hold too many. */
export async function collectQuorum(
  union: Union,
  members: readonly Member[],
  options: QuorumOptions,
  assertOpen: () => void,
): Promise<UnionHold | undefined> {
  const { clock } = union
  const { signal, leaseTime } = options
  const lease = leaseTime ?? options.watchdogLease
  const how = { ...options, lease, bound: lease / 10 }
  const wait = new Wait(clock, options.waitTime)
  let unreachableSince: Moment | undefined
  let first = wait.isOneTry ? undefined : await yieldFirst()
  for (let rounds = 0; ; rounds++) {
    const since = clock.now()
    const round = new QuorumRound(union, members, how, first)
    const verdict = await round.verdict
    if (verdict.kind === 'granted' && !signal?.aborted) {
      const validity = leaseTime === undefined ? undefined : { since, ms: validityOf(leaseTime) }
      const hold = new UnionHold(union, verdict.parts, validity, () => round.cancel())
      round.acceptLate(verdict.parts, (part) => hold.join(part))
      if (hold.isHeld) return hold
    }
    const states = round.states()
    await round.releaseParts()
    signal?.throwIfAborted()
    assertOpen()
    if (verdict.kind === 'taken') unreachableSince = undefined
    else unreachableSince ??= since
    const isUnreachable = unreachableSince && clock.elapsedSince(unreachableSince) >= UNREACHABLE_AFTER
    if (wait.isOver || isUnreachable || isFinal(verdict, union)) {
      if (verdict.kind === 'taken') return undefined
      throw misuse(verdict) ?? quorumError()
    }
    first = await waitForOne(round.taken, rounds)

    function quorumError() {
      const why =
        verdict.kind === 'granted' ? 'a quorum answered, but too late' : 'no quorum could be reached'
      return new LockQuorumError(
        `The lock ${quote(union.name)} was not acquired, and nothing of it is held (client ${union.clientId}): ${why} ` +
          `(${describeStates(states)}; ${union.needed} of ${union.of} are needed, each within ${Math.round(how.bound)} ms). ` +
          'Try again when more members answer.',
        union.name,
        states,
      )
    }
  }

  /** If this client should yield a member to other processes, waits for that member first. */
  async function yieldFirst(): Promise<Part | undefined> {
    const member = toYield(members)
    return member && (await waitForOne([member], 0))
  }

  async function waitForOne(taken: readonly Member[], rounds: number): Promise<Part | undefined> {
    // All processes wait for the same member, so that its next holder finds the other members free.
    const member = taken[rounds % taken.length]
    const part = 0.5 + random() / 2
    if (member) {
      const answer = await tryMember(member, Math.min(wait.left, LONGEST_WAIT_FOR_ONE * part), options)
      if (answer.kind === 'granted') return answer.part
      if (answer.kind === 'taken') return undefined
      signal?.throwIfAborted()
    }
    await pause(Math.min(wait.left, PAUSE * part), clock, signal)
    return undefined
  }
}

/** Redlock's validity: the lease less an allowance for clocks that run at different rates. */
function validityOf(lease: number): number {
  return lease - (lease * 0.01 + 2)
}

/** Whether no quorum is possible any more, because too many members failed with errors that a retry cannot cure. */
function isFinal(verdict: Verdict, { of, needed }: Union): boolean {
  return (
    verdict.kind === 'failed' && verdict.errors.filter((error) => !isTransient(error)).length > of - needed
  )
}

/** The error for the caller if all members failed with the same error, and it does not come from a server. */
function misuse(verdict: Verdict): unknown {
  if (verdict.kind !== 'failed') return undefined
  const [error] = verdict.errors
  const { code } = error as { code?: unknown }
  const isSame = verdict.errors.every((each) => (each as { code?: unknown }).code === code)
  const isOurs = error instanceof RedissonError
  const isCallers = error instanceof TypeError || error instanceof RangeError
  const ofCaller = ['ILLEGAL_MONITOR_STATE', 'LOCK_LOST', 'REDISSON_SHUTDOWN']
  return isSame && (isCallers || (isOurs && ofCaller.includes(error.code))) ? error : undefined
}
