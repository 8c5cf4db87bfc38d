import { script } from '../scripts/script'
import type { ScriptCall } from '../scripts/script-call'
import type { Moment } from '../util/clock'
import { BasePermitsAttempt, type PermitsAnswer } from './base-permits-attempt'
import type { Request } from './request-record'
import { messagesOf, untilRecheck } from './synchronizer'

const ACQUIRE = script('semaphore/acquire', decodeAcquire)
const CANCEL = script('semaphore/cancel', Number)

/**
 * How long the client retries to cancel an acquisition, in ms: as long as the server keeps the request
 * record.
 */
const CANCELLED_FOR = 60_000
/**
 * The record of a request surely lasts for this long, in ms, also if the clocks of client and server run
 * apart.
 */
const EXPIRES_NOT_BEFORE = CANCELLED_FOR / 2

/** The value of `free` if the number is below zero: permits that are released must go to the server. */
const BELOW_ZERO = -2

/**
 * 0 or more: granted, and the number that is left. Less: not granted; -3 or less: -3 minus the number that is
 * free.
 */
function decodeAcquire(raw: unknown): PermitsAnswer {
  const answer = Number(raw)
  if (answer >= 0) return { granted: true, grant: undefined, free: answer }
  return { granted: false, blockedFor: untilRecheck(), free: answer >= BELOW_ZERO ? answer : -3 - answer }
}

/**
 * One caller's attempt to acquire permits. Each try repeats the same request, until the server answers
 * without a grant, or may have forgotten the request. The next try is a new request.
 */
export class SemaphoreAttempt extends BasePermitsAttempt {
  /** What its tries repeat: until it is closed, or cancelled in the background. */
  private request: Request | undefined
  private lastTry: ScriptCall<PermitsAnswer> | undefined

  protected ask(): ScriptCall<PermitsAnswer> {
    const { requests } = this.semaphore
    // The server may have forgotten that it granted the request, and would grant it a second time.
    if (this.lastTry && this.mayHaveExpired(this.lastTry.started)) this.undo(undefined)
    this.request ??= requests.open()
    this.lastTry = requests.send(ACQUIRE, [this.wanted.permits], this.request, true)
    return this.lastTry
  }

  /** Whether the record may have expired of a request that was last sent then. */
  private mayHaveExpired(since: Moment): boolean {
    return this.semaphore.client.clock.elapsedSince(since) >= EXPIRES_NOT_BEFORE
  }

  protected override blocked(answer: PermitsAnswer): void {
    super.blocked(answer)
    this.closeRequest()
  }

  undo(inFlight: ScriptCall<PermitsAnswer> | undefined): void {
    const { semaphore, wanted, request } = this
    const { client, requests } = semaphore
    if (request === undefined) return
    // It is closed when it was cancelled, and not when this attempt ends.
    this.request = undefined
    let readLate: Moment | undefined
    // A process that stood still reads its answer late, and the record may have expired meanwhile. The grant
    // counts, also where no replica acknowledged it.
    const lastTry = inFlight ?? this.lastTry
    lastTry?.onFinished((reply) => {
      if (reply?.value.granted && this.mayHaveExpired(reply.sent)) readLate = client.clock.now()
    })
    const release = async () => {
      // An earlier copy of this call may have been applied, and its record may have expired, too.
      const isGranted = readLate && !this.mayHaveExpired(readLate)
      const args = [wanted.permits, ...messagesOf(semaphore), isGranted ? 1 : 0]
      const { value, acknowledged } = await requests.send(CANCEL, args, request, true).answer
      client.queues.changed(semaphore.target, value)
      // A failover must not lose it: then the permits would be taken for ever.
      if (!acknowledged) throw new Error('no replica has acknowledged it')
    }
    const cancelled = client.orphans.afterTry({ lease: CANCELLED_FOR, release }, inFlight)
    cancelled.then(() => requests.close(request))
  }

  override ended(granted: boolean): void {
    this.closeRequest()
    super.ended(granted)
  }

  private closeRequest() {
    if (this.request) this.semaphore.requests.close(this.request)
    this.request = undefined
  }
}
