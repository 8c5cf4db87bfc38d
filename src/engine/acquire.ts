import type { AcquireArguments } from '../api/arguments'
import { LockLostError } from '../api/errors'
import type { Client } from '../client/client'
import { LeaseBook } from '../leases/lease-book'
import type { Acquirer } from '../ownership/caller'
import { unlessAborted } from '../util/abort'
import type { Moment } from '../util/clock'
import { quote } from '../util/quote'
import { withTimeout } from '../util/timeout'
import { unanswered } from '../waiting/wait-errors'
import { type Caller, Hold, type Level } from './hold'
import type { AttemptOptions, LockAttempt, LockKind } from './lock-kind'

const TRIES_TO_OUTRUN_LEASE = 10

/** A call that acquires: what its caller asked for, and what is left of its wait. */
export class Acquisition implements AttemptOptions {
  /** In ms; without a leaseTime, the lease that the watchdog renews. */
  readonly lease: number
  /** How long its hold lasts at most, in ms: what the call gives, or else its client. */
  readonly maxHoldTime: number | undefined
  readonly signal: AbortSignal | undefined
  readonly caller: Caller
  private readonly started: Moment | undefined

  constructor(
    readonly client: Client,
    readonly kind: LockKind,
    readonly acquirer: Acquirer<Level>,
    readonly options: AcquireArguments,
  ) {
    const { leaseTime, maxHoldTime = client.options.maxHoldTime } = options
    if (leaseTime === undefined) this.maxHoldTime = maxHoldTime
    this.lease = leaseTime ?? Math.min(client.lockWatchdogTimeout, maxHoldTime ?? Number.POSITIVE_INFINITY)
    this.signal = options.signal
    this.caller = acquirer.caller
    if (this.waitTime < Number.POSITIVE_INFINITY) this.started = client.clock.now()
  }

  /** The rest of its wait, in ms; 0 or less: one try; Infinity: without limit. */
  get waitTime(): number {
    const { started, client, options } = this
    const { waitTime = client.options.waitTime } = options
    return started ? waitTime - client.clock.elapsedSince(started) : waitTime
  }

  /** Settles as the work does, unless the signal aborts or the wait, and the grace after it, end first. */
  inTime<T>(work: Promise<T>, subject: string): Promise<T> {
    const { clock, clientId, grace } = this.client
    const late = () => {
      throw unanswered(subject, clientId)
    }
    return unlessAborted(withTimeout(work, Math.max(this.waitTime, 0) + grace, clock, late), this.signal)
  }
}

/**
 * Acquires a new hold. Undefined when the wait was over. `again`: an ancestor of the caller has acquired the
 * lock meanwhile, so the caller looks for a hold again.
 *
 * A grant that came too late may be gone. It is given back, and the lock is tried again.
 */
export async function acquire(acquisition: Acquisition): Promise<Level | 'again' | undefined> {
  const { client, kind, caller } = acquisition
  for (let tries = 1; ; tries++) {
    if (tries > 1 && caller.holdOf(kind.objectId)) return 'again'
    const attempt = kind.newAttempt(acquisition, acquisition.waitTime)
    const reply = await client.acquire(attempt.target, attempt)
    if (reply === 'below a hold') return 'again'
    if (!reply) return undefined
    const book = new LeaseBook(client.clock, reply.sent, acquisition.lease, acquisition.maxHoldTime)
    if (book.isPastDeadline) {
      attempt.undo(undefined)
      // However long the process stood still, it tries once more.
      const isGraceOver = tries > 1 && acquisition.waitTime + client.grace <= 0
      if (isGraceOver || tries === TRIES_TO_OUTRUN_LEASE) throw cameLate(acquisition, attempt, tries)
      continue
    }
    // The client may have begun to shut down meanwhile.
    if (client.closing.aborted) {
      attempt.undo(undefined)
      throw client.closing.reason
    }
    const hold = new Hold(acquisition, attempt, book, reply.value.grant)
    const [level] = hold.levels
    if (hold.entry) hold.entry.hold = hold
    // A subscriber learns of it, and may end it at once.
    client.leases.begin(hold)
    if (caller.thread?.children) client.queues.letBranchesIn(kind, caller.thread)
    return level
  }
}

function cameLate({ client, kind, lease }: Acquisition, { threadId }: LockAttempt, tries: number) {
  return new LockLostError(
    `The lock ${quote(kind.name)} was acquired ${tries} times in a row, and each time its lease of ` +
      `${lease} ms was over before the answer arrived (client ${client.clientId}, thread id ${threadId}). ` +
      'Use a leaseTime or maxHoldTime that is longer than a round trip.',
    kind.name,
    threadId,
  )
}
