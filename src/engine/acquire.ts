import { Mutex } from 'async-mutex'
import { IllegalMonitorStateError, LockLostError } from '../api/errors'
import type { Context } from '../client/context'
import type { LogicalThread } from '../ownership/logical-thread'
import { newThreadId } from '../ownership/process-state'
import type { ScriptCall } from '../scripts/script-call'
import { unlessAborted } from '../util/abort'
import { quote } from '../util/quote'
import { queueBeside, type WaitTarget } from '../waiting/admission'
import type { Outcome } from '../waiting/attempt'
import type { AcquireRequest, AnyAcquireRequest } from './acquire-request'
import type { AcquiredLockHold } from './acquired-lock-hold'
import { Hold, type HoldRef } from './hold'
import type { AnyLockScripts, AttemptOptions, LockAttempt, LockScripts } from './lock-scripts'
import { reenterInTime } from './reenter'
import { lockOrphan, releaseOrphan } from './release'
import { warnOfOtherClients } from './self-wait-across-clients'
import { waitForSiblingBranches } from './wait-for-sibling-branches'

const TRIES_TO_OUTRUN_LEASE = 10

/** Acquires the lock for a caller: a new hold, or another level of its hold. Undefined when the wait was over. */
export function acquire<Handle extends AcquiredLockHold>(
  request: AcquireRequest<Handle>,
): Promise<Handle | undefined> {
  return request.place ? acquireAlone(request, request.place) : acquireAnew(request)
}

/** Rejects if another acquisition of this caller is in flight: a caller acquires a lock once at a time. */
async function acquireAlone<Handle extends AcquiredLockHold>(
  request: AcquireRequest<Handle>,
  place: HoldRef,
): Promise<Handle | undefined> {
  request.assertWanted()
  const { context, scripts, caller } = request
  if (place.table.get(place.key)?.acquiring?.isLocked())
    throw new IllegalMonitorStateError(
      `${caller.description} is acquiring the lock ${quote(scripts.name)} already (client ${context.clientId}). ` +
        'A caller acquires a lock once at a time: give each concurrent branch its own redisson.run() or threadId.',
    )
  const acquiring = caller.thread?.parent
    ? waitForSiblingBranches(request, () => acquireScoped(request))
    : acquireScoped(request)
  // The entry is read after the call above. That call may retire an expired hold, which deletes the entry.
  const entry = place.table.getOrCreate(place.key)
  const guard = new Mutex()
  entry.acquiring = guard
  // The mutex is new, so this locks it at once.
  void guard.acquire()
  try {
    return await acquiring
  } finally {
    guard.release()
    delete entry.acquiring
    place.table.tidy(place.key)
  }
}

async function acquireScoped<Handle extends AcquiredLockHold>(
  request: AcquireRequest<Handle>,
): Promise<Handle | undefined> {
  const { scripts, caller } = request
  const hold = caller.holdOf(scripts.objectId)
  if (hold && scripts.refuseReentry && hold.checkLive()) throw scripts.refuseReentry(hold, caller)
  const reentered = hold && (await reenterInTime(request, hold))
  return reentered ?? (await acquireAnew(request))
}

async function acquireAnew<Handle extends AcquiredLockHold>(
  request: AcquireRequest<Handle>,
): Promise<Handle | undefined> {
  request.assertWanted()
  const { context, scripts, caller, lease, signal } = request
  const companion = scripts.companion?.(caller, !request.isWaitOver)
  for (let tries = 1; ; tries++) {
    const { waitTime } = request
    const threadId = newThreadId()
    const owner = scripts.ownerField(threadId)
    const asked = { owner, threadId, companion, lease, waitTime, signal, thread: caller.thread }
    const attempt = scripts.newAttempt?.(asked) ?? new AcquireAttempt(context, scripts, asked)
    const { target } = attempt
    const reply = await context.queues.acquire(target, attempt)
    if (!reply) return undefined
    const hold = new Hold(context, scripts, threadId, owner, reply.sent, lease)
    try {
      // The client may have begun to shut down in the same tick.
      context.assertOpen()
    } catch (error) {
      releaseOrphan(scripts, hold, lease, reply.sent)
      throw error
    }
    hold.grant = reply.value.grant
    hold.at = attempt.at
    if (hold.book.isPastDeadline && !(await confirm(request, hold))) {
      if (tries === TRIES_TO_OUTRUN_LEASE) throw tooShort(scripts, hold)
      request.assertWanted()
      continue
    }
    const handle = request.addLevel(hold, reply.sent)
    take(request, hold)
    return handle
  }
}

function tooShort({ name }: AnyLockScripts, { context, book, threadId }: Hold): LockLostError {
  return new LockLostError(
    `The lock ${quote(name)} was acquired ${TRIES_TO_OUTRUN_LEASE} times in a row, and each time its lease of ${book.term.lasts} ms ` +
      `was over before the answer arrived (client ${context.clientId}, thread id ${threadId}). Use a leaseTime that is longer ` +
      'than a round trip.',
    name,
    threadId,
  )
}

function take(request: AnyAcquireRequest, hold: Hold) {
  const { context, scripts, place } = request
  const { thread } = request.caller
  hold.thread = thread
  if (place) {
    hold.ref = place
    place.table.getOrCreate(place.key).hold = hold
  }
  context.leases.begin(hold)
  if (thread?.hasChildren && !scripts.shared) context.queues.letBranchesIn(scripts, thread)
}

/** The answer came so late that the lease may have ended since. Asks the server whether the hold is still there. */
async function confirm(request: AnyAcquireRequest, hold: Hold): Promise<boolean> {
  const { context, scripts, lease, signal } = request
  try {
    const { value, sent, acknowledged } = await unlessAborted(
      scripts.reenter(hold.ownerField, lease, 1, 0).answer,
      signal,
    )
    hold.book.set(sent, lease)
    if (value.leaseEnd === 0) return false
    if (acknowledged) hold.book.replicatedUpTo(sent)
    if (acknowledged && !hold.book.isPastDeadline) return true
    releaseOrphan(scripts, hold, lease, sent)
    return false
  } catch (error) {
    releaseOrphan(scripts, hold, lease, context.clock.now())
    throw error
  }
}

/** One owner's attempt at one lock. */
export class AcquireAttempt<Grant> implements LockAttempt<Grant> {
  readonly owner: string
  readonly threadId: number
  readonly lease: number
  readonly waitTime: number | undefined
  readonly signal: AbortSignal | undefined
  readonly thread: LogicalThread | undefined
  at: string | undefined
  readonly takeOver?: (giver: string) => ScriptCall<Outcome<Grant>>
  private readonly companion: string | undefined
  /** The last hold of another client about which the server was asked: this attempt may wait for that hold. */
  private selfWait: Hold | undefined

  constructor(
    protected readonly context: Context,
    private readonly scripts: LockScripts<Grant>,
    { owner, threadId, companion, lease, waitTime, signal, thread }: AttemptOptions,
    readonly target = queueFor(scripts, companion),
  ) {
    this.owner = owner
    this.threadId = threadId
    this.companion = companion
    this.lease = lease
    this.waitTime = waitTime
    this.signal = signal
    this.thread = thread
    if (scripts.handOff) this.takeOver = this.handOff
  }

  get kind(): string {
    return this.scripts.kind
  }

  get name(): string {
    return this.scripts.name
  }

  get subject(): string {
    return `the lock ${quote(this.scripts.name)}`
  }

  send(): ScriptCall<Outcome<Grant>> {
    return this.scripts.acquire(this.owner, this.lease, this.companion)
  }

  undo(inFlight: ScriptCall<Outcome<Grant>> | undefined): void {
    const { context, scripts, owner, lease } = this
    const orphan = lockOrphan(context, scripts, owner, lease)
    if (inFlight) context.orphans.afterTry(orphan, inFlight, ({ granted }) => granted)
    else context.orphans.releaseNow(orphan, context.clock.now())
  }

  waitedLong(): void {
    if (this.thread)
      this.selfWait = warnOfOtherClients(this.context, this.scripts, this.thread, this.selfWait)
  }

  private handOff(giver: string): ScriptCall<Outcome<Grant>> {
    return this.scripts.handOff!(giver, this.owner, this.lease)
  }
}

/** A writer that reads may enter at once. It must not queue behind readers, which wait for the end of its write hold. */
function queueFor(scripts: AnyLockScripts, companion: string | undefined): WaitTarget {
  return companion === undefined ? scripts : queueBeside(scripts, `companion ${companion}`)
}
