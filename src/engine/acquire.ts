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
import type { LockScripts } from './lock-scripts'

const TRIES_TO_OUTRUN_LEASE = 10

/** The class of the LockHolds of one kind of lock. */
export type HandleClass<Handle = AcquiredLockHold> = new (scripts: LockScripts, level: Level) => Handle

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
    readonly context: Client,
    readonly scripts: LockScripts,
    readonly Handle: HandleClass,
    readonly caller: Caller,
    readonly options: AcquireArguments,
    /** The entry of its hold; undefined where each acquisition is an owner of its own. */
    readonly entry: HoldEntry<Hold> | undefined,
    /** Where its level belongs, if an `unlock()` has to end it. */
    readonly bare: BareLevels<Level> | undefined,
  ) {
    this.maxHoldTime = context.maxHoldOf(options)
    this.lease = options.leaseTime ?? Math.min(context.lockWatchdogTimeout, this.maxHoldTime ?? Infinity)
    this.signal = options.signal
    this.started = options.waitTime === undefined ? undefined : context.clock.now()
  }

  /** The rest of its wait, in ms; 0 or less: one try; undefined: without limit. */
  get waitTime(): number | undefined {
    return this.started && this.options.waitTime! - this.context.clock.elapsedSince(this.started)
  }

  get isWaitOver(): boolean {
    const { waitTime } = this
    return waitTime !== undefined && waitTime <= 0
  }

  /** Throws if the client shuts down or the caller has aborted. */
  assertWanted(): void {
    this.context.assertOpen()
    this.signal?.throwIfAborted()
  }
}

/** Acquires a new hold for a caller. Undefined when the wait was over. */
export async function acquireAnew(request: AcquireRequest): Promise<AcquiredLockHold | undefined> {
  const { context, scripts, caller, entry, lease, signal } = request
  for (let tries = 1; ; tries++) {
    const { waitTime } = request
    request.assertWanted()
    // An ancestor may have acquired it while this caller found that the hold it wanted to re-enter has ended.
    if (caller.thread?.parent && caller.holdOf(scripts.objectId)?.checkLive()) throw ANCESTOR_ACQUIRED
    const companion = scripts.companion?.(caller, !request.isWaitOver)
    const threadId = newThreadId()
    const owner = scripts.ownerField(threadId)
    const asked = { owner, threadId, companion, lease, waitTime, signal, thread: caller.thread }
    const attempt = scripts.newAttempt?.(asked) ?? new AcquireAttempt(context, scripts, asked)
    const reply = await context.queues.acquire(attempt.target, attempt)
    if (!reply) return undefined
    const { sent, value } = reply
    const hold = new Hold(context, scripts, threadId, owner, sent, lease)
    hold.book.limitTo(request.maxHoldTime)
    hold.grant = value.grant
    hold.at = attempt.at
    const mayBeGone = hold.book.isPastDeadline || context.leases.isOvertaken(hold)
    const isHeld = !mayBeGone || (await confirm(request, hold))
    // The client may have begun to shut down meanwhile.
    if (context.closing.aborted) {
      hold.releaseOrphan(lease, sent)
      throw context.closing.reason
    }
    if (!isHeld) {
      if (tries === TRIES_TO_OUTRUN_LEASE) throw tooShort(scripts, hold)
      continue
    }
    const handle = addLevel(request, hold, sent)
    const { thread } = caller
    hold.thread = thread
    if (entry) {
      hold.entry = entry
      entry.hold = hold
    }
    context.leases.begin(hold)
    if (thread && thread.children > 0) context.queues.letBranchesIn(scripts, thread)
    return handle
  }
}

/** `granted`: when the command was sent that acquired the level. */
export function addLevel(request: AcquireRequest, hold: Hold, granted: Moment): AcquiredLockHold {
  const { scripts, options, caller, branchPlace, bare, Handle } = request
  const level = new HoldLevel(hold, options.leaseTime, granted, caller.thread, branchPlace)
  hold.levels.add(level)
  bare?.add(level)
  return new Handle(scripts, level)
}

function tooShort({ name }: LockScripts, { context, book, threadId }: Hold): LockLostError {
  return new LockLostError(
    `The lock ${quote(name)} was acquired ${TRIES_TO_OUTRUN_LEASE} times in a row, and each time its lease of ${book.term.lasts} ms ` +
      `was over before the answer arrived (client ${context.clientId}, thread id ${threadId}). Use a leaseTime or maxHoldTime ` +
      'that is longer than a round trip.',
    name,
    threadId,
  )
}

/** The answer came late, so the hold may be gone. Asks the server whether it is still there. */
async function confirm(request: AcquireRequest, hold: Hold): Promise<boolean> {
  const { scripts, signal } = request
  const lease = hold.book.withinLimit(request.lease)
  try {
    const { value, sent, acknowledged } = await unlessAborted(
      scripts.reenter(hold.ownerField, lease, 1, 0).answer,
      signal,
    )
    hold.book.set(sent, lease)
    if (value.leaseEnd === 0) return false
    if (acknowledged) hold.book.replicatedUpTo(sent)
    if (acknowledged && !hold.book.isPastDeadline) return true
    hold.releaseOrphan(lease, sent)
    return false
  } catch (error) {
    hold.releaseOrphan(lease)
    throw error
  }
}
