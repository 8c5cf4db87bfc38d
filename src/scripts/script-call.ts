import type { ReplicaAckReply } from '../redis/replica-ack/batcher'
import { scriptBrokeOff, withoutSecrets } from '../redis/reply/errors'
import type { BrokenConnection } from '../redis/send/fences'
import type { Clock, Moment } from '../util/clock'
import type { Slices } from '../util/slices'
import { failedHere, isRefusedWithin, NOT_READY, unavailable } from './call-errors'
import { explain, type FailureEnvironment, kindOf, reportRetried } from './call-failures'
import { type CallFences, fencesAfter, isFencePending, NO_FENCES, whenFenced } from './call-fences'
import type { Reply } from './reply'
import type { Script } from './script'

/** What a call needs of its client. */
export interface CallEnvironment extends FailureEnvironment {
  readonly clock: Clock
  /** A call without an answer is rejected after this time, in ms. */
  readonly unavailableAfter: number
  /** Shared by all calls, because thousands may be retried at one time. */
  readonly retries: Slices
  /**
   * The calls without an answer, in no order: each enters and leaves by itself. A Set costs a fifth more
   * client CPU a cycle with 64 callers.
   */
  readonly unanswered: AnyScriptCall[]
}

const FIRST_BACKOFF = 50
const LONGEST_BACKOFF = 250

// biome-ignore lint/suspicious/noExplicitAny: a list of calls does not care what each answers.
export type AnyScriptCall = ScriptCall<any>

/**
 * One call of a script. It sends the hash of the script, or the source if the server does not know the hash.
 *
 * A caller waits for the call until it has an answer or an error: then the call is settled. The command is
 * finished when no copy of it can reach the server any more, which may be later.
 *
 * | Command   | Event                                       | A caller that waits | Command after         |
 * | --------- | ------------------------------------------- | ------------------- | --------------------- |
 * | paused    | the start; back-off and fences are over     | waits               | in flight             |
 * | paused    | …, and the connection is not ready          | waits               | paused                |
 * | paused    | …, and it refuses connections for good      | gets an error       | finished after fences |
 * | paused    | …, and the call is settled, or late (a)     | gets an error       | finished              |
 * | paused    | fences last, and it refuses connections     | gets an error       | paused                |
 * | in flight | an answer                                   | gets it             | finished              |
 * | in flight | the server does not know the hash (b)       | waits               | in flight, as source  |
 * | in flight | the connection broke                        | waits               | paused, with fences   |
 * | in flight | a transient error                           | waits               | paused                |
 * | in flight | an error, and the call is settled, or late  | gets an error       | finished after fences |
 * | in flight | another error, or it threw in this client   | gets an error       | finished after fences |
 * | any       | no answer for `unavailableAfter` (executor) | gets an error       | as before             |
 * | any       | the client is closed (executor) (c)         | gets an error       | as before             |
 *
 * (a) Late: after `unavailableAfter`; a paused one only where an earlier copy may have been applied. (b) The
 * call is neither settled nor late. (c) A call that is made after that is finished at once.
 *
 * Where a replica must have the writes, a copy that another node answered, or whose WAIT failed, has no
 * answer that counts: it is sent once more.
 */
export class ScriptCall<Value> {
  readonly started: Moment
  /** When its last copy was sent, apart from copies that only take another way to the server. */
  private sent: Moment
  private command: 'paused' | 'in flight' | 'finished' = 'paused'
  /** A copy was sent and has no answer that counts, so the server may have applied it. */
  hasLostCopy = false
  /** Another node than that of the key answered a copy. */
  private wasRedirected = false
  /** The last error of a copy, without credentials. */
  lastError: Error | undefined
  /** How long to wait before the next copy, in ms. */
  private backoff = FIRST_BACKOFF
  /** The last connection that had broken before the call was made. */
  private readonly brokenBefore: BrokenConnection
  /** The next copy waits for these. */
  private fences: CallFences = NO_FENCES
  /** Its place among the unanswered calls, until its command is finished. */
  private place = 0
  /** The answer, which may have come after the caller had its error. */
  private reply: Reply<Value> | undefined
  /** The error that the caller has. */
  private error: unknown
  private promise: Promise<Reply<Value>> | undefined
  private onReply: ((reply: Reply<Value>) => void) | undefined
  private onError: ((error: unknown) => void) | undefined
  private whenFinished: ((reply: Reply<Value> | undefined) => void) | undefined

  constructor(
    readonly script: Script<Value>,
    readonly keys: readonly string[],
    readonly args: readonly (string | number)[],
    /** A replica must have the writes before the answer counts. The transport can send such a call. */
    private readonly needsReplica: boolean,
    readonly environment: CallEnvironment,
  ) {
    this.started = this.sent = environment.clock.now()
    this.brokenBefore = environment.transport.lastBroken
  }

  /** Sends the first copy. A client that is closed sends nothing. */
  start(): void {
    const { closed, unanswered } = this.environment
    this.place = unanswered.push(this) - 1
    return closed === undefined ? this.send(false) : this.stop(closed)
  }

  /** Sends a copy, by the hash of the script or by its source. */
  private send(bySource: boolean) {
    const { transport } = this.environment
    // ioredis would queue a command that is sent now. The server could apply it long after its caller has
    // left.
    if (transport.state !== 'ready') return this.copyFailed(transport.refusal ?? NOT_READY[transport.state])
    this.command = 'in flight'
    try {
      const { needsReplica, wasRedirected, keys } = this
      if (needsReplica && (wasRedirected || transport.mayHaveReplicas!(keys[0]!))) this.sendWithWait(bySource)
      else this.sendAlone(bySource)
    } catch (error) {
      // Other code may have patched ioredis, and the command may be on its way all the same.
      this.threwHere(error)
    }
  }

  private sendAlone(bySource: boolean) {
    const answered = (raw: unknown, isFromOtherNode = false) => {
      if (!isFromOtherNode || !this.needsReplica) return this.copyAnswered(raw, true)
      // That node may have replicas: a second copy waits for them. Both have the effect of one.
      this.hasLostCopy = this.wasRedirected = true
      this.sendAgain(bySource)
    }
    this.environment.transport.send(this, bySource, answered, (error) => this.copyFailed(error))
  }

  /** WAIT follows the script in the same write. */
  private sendWithWait(bySource: boolean) {
    const answered = ({ value, acknowledged, waitError }: ReplicaAckReply) => {
      if (!waitError) return this.copyAnswered(value, acknowledged)
      this.hasLostCopy = true
      this.copyFailed(waitError)
    }
    const sending = this.environment.transport.sendAcknowledged!(this, bySource)
    sending.then(answered, (error) => this.copyFailed(error))
  }

  private copyAnswered(raw: unknown, acknowledged: boolean) {
    if (this.command === 'finished') return
    this.leaveUnanswered()
    const { onReply, script, sent, hasLostCopy } = this
    const { outages, refusals } = this.environment
    let value: Value
    try {
      value = script.decode(raw)
    } catch (error) {
      return this.threwHere(error)
    }
    if (outages.began) outages.answered()
    if (refusals.began) refusals.answered()
    this.reply = { value, sent, hasLostCopy, acknowledged }
    // Young collections of V8 keep many calls that are over. With their callers they would keep so much that
    // the first 5,000 cycles cost a tenth more CPU.
    this.onReply = this.onError = undefined
    this.whenFinished?.(this.reply)
    if (this.error === undefined) onReply?.(this.reply)
  }

  /** A copy failed, or the connection was not ready for one. */
  private copyFailed(error: unknown) {
    if (this.command === 'finished') return
    const { clock, retries, secrets, transport, unavailableAfter } = this.environment
    const kind = kindOf(error, this.environment)
    const isAway = error === NOT_READY.away
    const connectionBroke = kind === 'connection' && !isAway
    this.command = 'paused'
    if (connectionBroke || scriptBrokeOff(error)) this.hasLostCopy = true
    if (connectionBroke) this.fences = fencesAfter(this.brokenBefore, transport.serverOf(this.keys[0]!))
    if (kind === 'noscript' && !this.settled) return this.sendAgain(true)
    // A server error counts more than the closed connection that follows it: READONLY makes ioredis
    // reconnect.
    if (!isAway || !this.lastError) this.lastError = withoutSecrets(error, secrets)
    const mayPass = kind === 'connection' || kind === 'transient'
    if (mayPass) reportRetried(error, this)
    if (mayPass && !this.settled && this.age < unavailableAfter)
      clock.after(this.backoff, () => retries.run(() => this.retry()))
    else this.stop(explain(error, this))
  }

  /** The call threw in this client while it was sent, or its answer could not be read. */
  private threwHere(error: unknown) {
    this.hasLostCopy = true
    this.stop(failedHere(this, withoutSecrets(error, this.environment.secrets)))
  }

  private retry() {
    whenFenced(this.fences, () => {
      if (this.settled) return this.stop(this.error)
      this.sent = this.environment.clock.now()
      this.backoff = Math.min(2 * this.backoff, LONGEST_BACKOFF)
      this.sendAgain(false)
    })
    this.rejectIfConnectionIsRefused()
  }

  /**
   * Not where the process stood still, and the server may have forgotten that it has applied an earlier copy.
   */
  private sendAgain(bySource: boolean) {
    const isInTime = this.age < this.environment.unavailableAfter
    if (isInTime || !this.mayHaveBeenApplied) this.send(bySource)
    else this.stop(unavailable(this))
  }

  /**
   * A server that refuses every new connection also allows no fence, so the call is rejected and does not
   * wait for one.
   */
  private rejectIfConnectionIsRefused() {
    if (this.settled || !isFencePending(this.fences)) return
    const { refusal } = this.environment.transport
    if (refusal && kindOf(refusal, this.environment) === 'refused') this.reject(explain(refusal, this))
    else this.environment.clock.after(LONGEST_BACKOFF, () => this.rejectIfConnectionIsRefused())
  }

  /** Sends no more copy. The command is finished once none of its copies can arrive any more. */
  private stop(error: unknown) {
    this.reject(error)
    whenFenced(this.fences, () => {
      this.leaveUnanswered()
      this.whenFinished?.(undefined)
      this.whenFinished = undefined
    })
  }

  /** The caller gets this error, if it still waits. */
  reject(error: unknown): void {
    if (this.settled) return
    this.error = error
    // The caller may have stopped listening.
    this.promise?.catch(() => {})
    this.onError?.(error)
  }

  /** No copy can reach the server any more. */
  private leaveUnanswered() {
    if (this.command === 'finished') return
    this.command = 'finished'
    const { unanswered } = this.environment
    const last = unanswered.pop()!
    if (last !== this) {
      unanswered[this.place] = last
      last.place = this.place
    }
  }

  /** How long ago the call was made, in ms. */
  get age(): number {
    return this.environment.clock.elapsedSince(this.started)
  }

  /** Whether the server may have applied the command or a part of it, or may still do so. */
  get mayHaveBeenApplied(): boolean {
    return this.command === 'in flight' || this.hasLostCopy || isRefusedWithin(this.error)
  }

  /** The caller has its answer or its error. The command may still be in flight. */
  get settled(): boolean {
    return this.reply !== undefined || this.error !== undefined
  }

  /** The answer for a caller that awaits it. */
  get answer(): Promise<Reply<Value>> {
    this.promise ??= new Promise((resolve, reject) => this.whenAnswered(resolve, reject))
    return this.promise
  }

  /**
   * Calls back with the answer; at once if it has arrived. Callbacks run in the order of their registration.
   */
  whenAnswered(onReply: (reply: Reply<Value>) => void, onError?: (error: unknown) => void): void {
    if (this.error !== undefined) onError?.(this.error)
    else if (this.reply) onReply(this.reply)
    else {
      this.onReply = after(this.onReply, onReply)
      if (onError) this.onError = after(this.onError, onError)
    }
  }

  /** Calls back once the command is finished: with the reply, or with undefined if there was none. */
  onFinished(callback: (reply: Reply<Value> | undefined) => void): void {
    if (this.command === 'finished') callback(this.reply)
    else this.whenFinished = after(this.whenFinished, callback)
  }
}

function after<T>(first: ((value: T) => void) | undefined, next: (value: T) => void): (value: T) => void {
  if (!first) return next
  return (value) => {
    first(value)
    next(value)
  }
}
