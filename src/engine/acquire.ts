import { LockLostError } from '../api/errors'
import type { Client } from '../client/client'
import { processState } from '../ownership/process-state'
import type { ScriptCall } from '../scripts/script-call'
import { quote } from '../util/quote'
import { queueBeside, type WaitTarget } from '../waiting/admission'
import type { Outcome } from '../waiting/attempt'
import { ANCESTOR_ACQUIRED, nameOf } from '../waiting/wait-errors'
import type { AcquireRequest } from './acquire-request'
import { Hold, Level } from './hold'
import type { AttemptOptions, LockAttempt, LockKind, Payload } from './lock-kind'
import { lockOrphan } from './lock-orphan'
import { inTime, reenterInTime, reentryRefused } from './reenter'

const TRIES_TO_OUTRUN_LEASE = 10

/** Acquires a new hold, or adds a level to the hold of the caller. Undefined when the wait was over. */
export function acquire(request: AcquireRequest): Promise<Level | undefined> {
  const { caller, entry, kind } = request
  const hold = caller.thread?.parent ? caller.holdOf(kind.objectId) : entry?.hold
  return hold ? reenterOrAcquire(request, hold) : acquireAnew(request)
}

async function reenterOrAcquire(request: AcquireRequest, hold: Hold) {
  const { kind, caller } = request
  if (kind.reentrantBy && hold.checkLive()) throw reentryRefused(kind, hold, caller)
  return (await reenterInTime(request, hold)) ?? (await acquireAnew(request))
}

/** Acquires a new hold for a caller. Undefined when the wait was over. */
async function acquireAnew(request: AcquireRequest): Promise<Level | undefined> {
  const { client, kind, caller, entry, lease, signal } = request
  for (let tries = 1; ; tries++) {
    const { waitTime } = request
    // An ancestor may have acquired it while this caller found that the hold it wanted to re-enter has ended.
    if (caller.thread?.parent && caller.holdOf(kind.objectId)?.checkLive()) throw ANCESTOR_ACQUIRED
    const companion = kind.companion?.(caller, !request.isWaitOver)
    const threadId = processState.nextThreadId++
    const owner = kind.ownerField(threadId)
    const asked = { owner, threadId, companion, lease, waitTime, signal, thread: caller.thread }
    const attempt = kind.newAttempt?.(asked) ?? new AcquireAttempt(client, kind, asked)
    const reply = await client.acquire(attempt.target, attempt)
    if (!reply) return undefined
    const { sent, value } = reply
    const hold = new Hold(client, kind, threadId, owner, sent, lease)
    hold.book.limitTo(request.maxHoldTime)
    hold.grant = value.grant
    hold.at = attempt.at
    const mayBeGone = hold.book.isPastDeadline || client.leases.isOvertaken(hold)
    const isHeld = !mayBeGone || (await confirm(request, hold))
    // The client may have begun to shut down meanwhile.
    if (client.closing.aborted) {
      hold.releaseOrphan(lease, sent)
      throw client.closing.reason
    }
    if (!isHeld) {
      if (tries === TRIES_TO_OUTRUN_LEASE) throw tooShort(kind, hold)
      continue
    }
    const { thread } = caller
    const { options, branchPlace, bare } = request
    const level = hold.addLevel(new Level(hold, options.leaseTime, sent, thread, branchPlace), bare)
    hold.thread = thread
    if (entry) {
      hold.entry = entry
      entry.hold = hold
    }
    client.leases.begin(hold)
    if (thread && thread.children > 0) client.queues.letBranchesIn(kind, thread)
    return level
  }
}

function tooShort({ name }: LockKind, { client, book, threadId }: Hold): LockLostError {
  return new LockLostError(
    `The lock ${quote(name)} was acquired ${TRIES_TO_OUTRUN_LEASE} times in a row, and each time its lease ` +
      `of ${book.term.lasts} ms was over before the answer arrived (client ${client.clientId}, thread id ` +
      `${threadId}). Use a leaseTime or maxHoldTime that is longer than a round trip.`,
    name,
    threadId,
  )
}

/** The answer came late, so the hold may be gone. Asks the server whether it is still there. */
async function confirm(request: AcquireRequest, hold: Hold): Promise<boolean> {
  const { kind } = request
  const lease = hold.book.withinLimit(request.lease)
  try {
    const { answer } = kind.reenter(hold.ownerField, lease, 1, 0)
    const { value, sent, acknowledged } = await inTime(request, answer, nameOf(kind, hold.threadId))
    hold.book.set(sent, lease)
    if (value.leaseEnd === 0) return false
    if (acknowledged) hold.book.replicatedUpTo(sent)
    if (acknowledged && !hold.book.isPastDeadline) return true
    // A command that was answered late may have taken effect late.
    hold.releaseOrphan(lease)
    return false
  } catch (error) {
    hold.releaseOrphan(lease)
    throw error
  }
}

/** One owner's attempt at one lock. */
export class AcquireAttempt implements LockAttempt {
  at: string | undefined
  readonly takeOver?: (giver: string) => ScriptCall<Outcome<Payload>>

  constructor(
    protected readonly client: Client,
    private readonly kind: LockKind,
    readonly wanted: AttemptOptions,
    readonly target = queueFor(kind, wanted.companion),
  ) {
    if (kind.handOff) this.takeOver = this.handOff
  }

  send(): ScriptCall<Outcome<Payload>> {
    const { owner, lease, companion } = this.wanted
    return this.kind.acquire(owner, lease, companion)
  }

  undo(inFlight: ScriptCall<Outcome<Payload>> | undefined): void {
    const { client, kind, wanted } = this
    client.orphans.afterTry(lockOrphan(client, kind, wanted.owner, wanted.lease), inFlight)
  }

  private handOff(giver: string): ScriptCall<Outcome<Payload>> {
    return this.kind.handOff!(giver, this.wanted.owner, this.wanted.lease)
  }
}

/**
 * A writer that reads may enter at once. It must not queue behind readers, which wait for the end of its
 * write hold.
 */
function queueFor(kind: LockKind, companion: string | undefined): WaitTarget {
  return companion === undefined ? kind : queueBeside(kind, `companion ${companion}`)
}
