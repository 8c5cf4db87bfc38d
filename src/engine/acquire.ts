import type { AcquireArguments } from '../api/arguments'
import { LockLostError } from '../api/errors'
import type { Client } from '../client/client'
import type { BareLevels } from '../ownership/bare-levels'
import type { BranchPlace } from '../ownership/branch-place'
import type { HoldEntry } from '../ownership/caller'
import { newThreadId } from '../ownership/process-state'
import { unlessAborted } from '../util/abort'
import type { Moment } from '../util/clock'
import { quote } from '../util/quote'
import { ANCESTOR_ACQUIRED } from '../waiting/waiter'
import { AcquireAttempt } from './acquire-attempt'
import type { AcquiredLockHold } from './acquired-lock-hold'
import { type Caller, Hold, type Level } from './hold'
import { HoldLevel } from './level'
import type { LockKind } from './lock-kind'

const TRIES_TO_OUTRUN_LEASE = 10

/** The class of the LockHolds of one kind of lock. */
export type HandleClass<Handle = AcquiredLockHold> = new (kind: LockKind, level: Level) => Handle

/** What a caller asked for, and what is left of its wait. */
export class AcquireRequest {
  /** Its place among its siblings, if its thread acquires below a hold of an ancestor. */
  branchPlace: BranchPlace | undefined
  /** In ms; without a leaseTime, the lease that the watchdog renews. */
  readonly lease: number
  /** Of a new hold, in ms. */
  readonly maxHoldTime: number | undefined
  readonly signal: AbortSignal | undefined
  private readonly started: Moment | undefined

  constructor(
    readonly client: Client,
    readonly kind: LockKind,
    readonly Handle: HandleClass,
    readonly caller: Caller,
    readonly options: AcquireArguments,
    /** The entry of its hold; undefined where each acquisition is an owner of its own. */
    readonly entry: HoldEntry<Hold> | undefined,
    /** Where its level belongs, if an `unlock()` has to end it. */
    readonly bare: BareLevels<Level> | undefined,
  ) {
    this.maxHoldTime = client.maxHoldOf(options)
    this.lease = options.leaseTime ?? Math.min(client.lockWatchdogTimeout, this.maxHoldTime ?? Infinity)
    this.signal = options.signal
    this.started = options.waitTime === undefined ? undefined : client.clock.now()
  }

  /** The rest of its wait, in ms; 0 or less: one try; undefined: without limit. */
  get waitTime(): number | undefined {
    return this.started && this.options.waitTime! - this.client.clock.elapsedSince(this.started)
  }

  get isWaitOver(): boolean {
    const { waitTime } = this
    return waitTime !== undefined && waitTime <= 0
  }

  /** Throws if the client shuts down or the caller has aborted. */
  assertWanted(): void {
    this.client.assertOpen()
    this.signal?.throwIfAborted()
  }
}

/** Acquires a new hold for a caller. Undefined when the wait was over. */
export async function acquireAnew(request: AcquireRequest): Promise<AcquiredLockHold | undefined> {
  const { client, kind, caller, entry, lease, signal } = request
  for (let tries = 1; ; tries++) {
    const { waitTime } = request
    request.assertWanted()
    // An ancestor may have acquired it while this caller found that the hold it wanted to re-enter has ended.
    if (caller.thread?.parent && caller.holdOf(kind.objectId)?.checkLive()) throw ANCESTOR_ACQUIRED
    const companion = kind.companion?.(caller, !request.isWaitOver)
    const threadId = newThreadId()
    const owner = kind.ownerField(threadId)
    const asked = { owner, threadId, companion, lease, waitTime, signal, thread: caller.thread }
    const attempt = kind.newAttempt?.(asked) ?? new AcquireAttempt(client, kind, asked)
    const reply = await client.queues.acquire(attempt.target, attempt)
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
    const handle = addLevel(request, hold, sent)
    const { thread } = caller
    hold.thread = thread
    if (entry) {
      hold.entry = entry
      entry.hold = hold
    }
    client.leases.begin(hold)
    if (thread && thread.children > 0) client.queues.letBranchesIn(kind, thread)
    return handle
  }
}

/** `granted`: when the command was sent that acquired the level. */
export function addLevel(request: AcquireRequest, hold: Hold, granted: Moment): AcquiredLockHold {
  const { kind, options, caller, branchPlace, bare, Handle } = request
  const level = new HoldLevel(hold, options.leaseTime, granted, caller.thread, branchPlace)
  hold.levels.add(level)
  bare?.add(level)
  return new Handle(kind, level)
}

function tooShort({ name }: LockKind, { client, book, threadId }: Hold): LockLostError {
  return new LockLostError(
    `The lock ${quote(name)} was acquired ${TRIES_TO_OUTRUN_LEASE} times in a row, and each time its lease of ${book.term.lasts} ms ` +
      `was over before the answer arrived (client ${client.clientId}, thread id ${threadId}). Use a leaseTime or maxHoldTime ` +
      'that is longer than a round trip.',
    name,
    threadId,
  )
}

/** The answer came late, so the hold may be gone. Asks the server whether it is still there. */
async function confirm(request: AcquireRequest, hold: Hold): Promise<boolean> {
  const { kind, signal } = request
  const lease = hold.book.withinLimit(request.lease)
  try {
    const { value, sent, acknowledged } = await unlessAborted(
      kind.reenter(hold.ownerField, lease, 1, 0).answer,
      signal,
    )
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
