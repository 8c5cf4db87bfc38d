import { cameFromScript, scriptBrokeOff, withoutSecrets } from '../redis/reply/errors'
import type { BrokenConnection } from '../redis/send/fences'
import type { Clock, Moment } from '../util/clock'
import type { Slices } from '../util/slices'
import { failedHere, NOT_READY, unavailable } from './call-errors'
import { explain, type FailureEnvironment, kindOf, reportRetried } from './call-failures'
import { type CallFences, fencesAfter, isFencePending, NO_FENCES, whenFenced } from './call-fences'
import type { Script } from './script'

/** The answer to a script, and what its caller must know about the connection. */
export interface Reply<Value> {
  readonly value: Value
  /** When the client sent the copy of the command that was answered. */
  readonly sent: Moment
  /** An earlier copy has no answer that counts, so it may have been applied as well. */
  readonly hasLostCopy: boolean
  /** A replica has the writes, or none needs to have them. */
  readonly acknowledged: boolean
}

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
 * After a connection error or a transient error it sends the command again, until a copy is answered or
 * `unavailableAfter` is over.
 *
 * It ends twice. It is settled when its caller has an answer or an error. It is finished when no copy of its
 * command can reach the server any more, which may be later.
 */
export class ScriptCall<Value> {
  readonly started: Moment
  /** When its last copy was sent, apart from copies that only take another way to the server. */
  private sent: Moment
  /** A copy was sent and has not been answered. */
  private isInFlight = false
  /**
   * A copy was sent and has no answer that counts, so the server may have applied it, whatever it says of the
   * next copy.
   */
  hasLostCopy = false
  /** The server refused a command within the script, which may have run others before. */
  private wasRefusedWithin = false
  /** The last error after which the command was sent again, without credentials. */
  lastError: Error | undefined
  /** How long to wait before the next copy, in ms. */
  private backoff = FIRST_BACKOFF
  /** The last connection that had broken before the command was last sent. */
  private brokenBefore: BrokenConnection
  private fences: CallFences = NO_FENCES
  /** Its place among the unanswered calls; below 0: it is none of them. */
  private place = -1
  /** The answer, which may have come after the caller had its error. */
  private reply: Reply<Value> | undefined
  /** The error that the caller has. */
  private error: unknown
  private isFinished = false
  private promise: Promise<Reply<Value>> | undefined
  private onReply: ((reply: Reply<Value>) => void) | undefined
  private onError: ((error: unknown) => void) | undefined
  private whenFinished: ((reply: Reply<Value> | undefined) => void) | undefined

  constructor(
    readonly script: Script<Value>,
    readonly keys: readonly string[],
    readonly args: readonly (string | number)[],
    /** A replica must have the writes before the answer counts. */
    private readonly needsReplica: boolean,
    readonly environment: CallEnvironment,
  ) {
    this.started = this.sent = environment.clock.now()
    this.brokenBefore = environment.transport.lastBroken
  }

  /** Sends the first copy. A client that is closed sends nothing. */
  start(): void {
    if (this.environment.closed !== undefined) return this.end(this.environment.closed)
    this.place = this.environment.unanswered.push(this) - 1
    this.send(false)
  }

  private send(bySource: boolean, wasRedirected = false) {
    const { transport } = this.environment
    // ioredis would queue a command that is sent now. The server could apply it long after its caller has
    // left.
    if (transport.state !== 'ready') return this.failed(transport.refusal ?? NOT_READY[transport.state])
    this.isInFlight = true
    const failed = (error: unknown) => this.failed(error)
    try {
      if (this.needsReplica && (wasRedirected || transport.mayHaveReplicas?.(this.keys[0]!)))
        transport.sendAcknowledged!(this, bySource).then(
          ({ value, acknowledged, waitError }) =>
            waitError ? this.failed(waitError, true) : this.answered(value, acknowledged),
          failed,
        )
      else {
        const answered = (raw: unknown, isFromOtherNode = false) =>
          isFromOtherNode ? this.answeredByOtherNode(raw, bySource) : this.answered(raw, true)
        transport.send(this, bySource, answered, failed)
      }
    } catch (error) {
      // Other code may have patched ioredis, and the command may be on its way all the same.
      this.failedHere(error)
    }
  }

  /** That node may have replicas: a second copy waits for them. Both have the effect of one. */
  private answeredByOtherNode(raw: unknown, bySource: boolean) {
    if (!this.needsReplica || !this.environment.transport.sendAcknowledged) return this.answered(raw, true)
    this.hasLostCopy = true
    this.sendAgain(bySource, true)
  }

  /** The answer came, perhaps after its caller has left. */
  private answered(raw: unknown, acknowledged: boolean) {
    const { settled, onReply, script, sent, hasLostCopy, environment } = this
    this.leaveUnanswered()
    let value: Value
    try {
      value = script.decode(raw)
    } catch (error) {
      return this.failedHere(error)
    }
    const { outages, refusals } = environment
    if (outages.began) outages.answered()
    if (refusals.began) refusals.answered()
    if (this.isFinished) return
    this.isInFlight = false
    this.isFinished = true
    this.reply = { value, sent, hasLostCopy, acknowledged }
    // Young collections of V8 keep many calls that are over. With their callers they would keep so much that
    // the first 5,000 cycles cost a tenth more CPU.
    this.onReply = this.onError = undefined
    this.whenFinished?.(this.reply)
    if (!settled) onReply?.(this.reply)
  }

  /** A copy failed, or the connection was not ready for one. `wasApplied`: only its WAIT failed. */
  private failed(error: unknown, wasApplied = false) {
    const { clock, closed, retries, secrets, unavailableAfter } = this.environment
    const kind = kindOf(error, this.environment)
    const isAway = error === NOT_READY.away
    this.isInFlight = false
    if (kind === 'connection' && !isAway) this.connectionBroke()
    else if (wasApplied || scriptBrokeOff(error)) this.hasLostCopy = true
    else if (kind === 'refused' && cameFromScript(error)) this.wasRefusedWithin = true
    if (kind === 'noscript' && closed === undefined) return this.sendAgain(true)
    // A server error counts more than the closed connection that follows it: READONLY makes ioredis
    // reconnect.
    if (!isAway || !this.lastError) this.lastError = withoutSecrets(error, secrets)
    const isRetried = kind === 'connection' || kind === 'transient'
    if (isRetried) reportRetried(error, this)
    if (!isRetried || this.settled || this.age >= unavailableAfter) return this.end(explain(error, this))
    clock.after(this.backoff, () => retries.run(() => this.retry()))
  }

  private connectionBroke() {
    const { transport } = this.environment
    this.hasLostCopy = true
    this.fences = [...this.fences, ...fencesAfter(this.brokenBefore, transport.serverOf(this.keys[0]!))]
    this.brokenBefore = transport.lastBroken
  }

  private retry() {
    whenFenced(this.fences, () => {
      if (this.settled) return this.finish()
      this.sent = this.environment.clock.now()
      this.backoff = Math.min(2 * this.backoff, LONGEST_BACKOFF)
      this.sendAgain(false)
    })
    this.failIfConnectionIsRefused()
  }

  /**
   * Not where the process stood still, and the server may have forgotten that it has applied an earlier copy.
   */
  private sendAgain(bySource: boolean, wasRedirected = false) {
    const isInTime = this.age < this.environment.unavailableAfter
    if (isInTime || !this.mayHaveBeenApplied) this.send(bySource, wasRedirected)
    else this.end(unavailable(this))
  }

  /**
   * A server that refuses every new connection also allows no fence, so the call is rejected and does not
   * wait for one.
   */
  private failIfConnectionIsRefused() {
    if (this.settled || !isFencePending(this.fences)) return
    const { refusal } = this.environment.transport
    if (refusal && kindOf(refusal, this.environment) === 'refused') this.fail(explain(refusal, this))
    else this.environment.clock.after(LONGEST_BACKOFF, () => this.failIfConnectionIsRefused())
  }

  /** There was no answer for `unavailableAfter`. The command may still be in flight. */
  expire(): void {
    if (this.settled) return
    const error = unavailable(this)
    this.environment.outages.failed(error)
    this.fail(error)
  }

  /** The call threw in this client while it was sent, or its answer could not be read. */
  private failedHere(error: unknown) {
    this.isInFlight = false
    this.hasLostCopy = true
    this.end(failedHere(this, withoutSecrets(error, this.environment.secrets)))
  }

  /** No more copy is sent. */
  private end(error: unknown) {
    this.fail(error)
    whenFenced(this.fences, () => this.finish())
  }

  /** The caller gets an error, if it has no answer yet. */
  fail(error: unknown): void {
    // A call in flight, or one that waits for a fence, stays among the unanswered, so that the executor
    // notices if its connection goes silent.
    if (!this.isInFlight && !isFencePending(this.fences)) this.leaveUnanswered()
    if (this.settled) return
    this.error = error
    // The caller may have stopped listening.
    this.promise?.catch(() => {})
    this.onError?.(error)
  }

  private finish() {
    this.leaveUnanswered()
    if (this.isFinished) return
    this.isFinished = true
    this.whenFinished?.(undefined)
  }

  private leaveUnanswered() {
    const { place, environment } = this
    if (place < 0) return
    this.place = -1
    const last = environment.unanswered.pop()!
    if (last === this) return
    environment.unanswered[place] = last
    last.place = place
  }

  /** How long ago the call was made, in ms. */
  get age(): number {
    return this.environment.clock.elapsedSince(this.started)
  }

  /** Whether the server may have applied the command or a part of it, or may still do so. */
  get mayHaveBeenApplied(): boolean {
    return this.isInFlight || this.hasLostCopy || this.wasRefusedWithin
  }

  /** The caller has its answer or its error. The command may still be in flight. */
  get settled(): boolean {
    return this.isFinished || this.error !== undefined
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

  /**
   * Calls back once no copy of this command is in flight: with the reply, or with undefined if there was
   * none.
   */
  onFinished(callback: (reply: Reply<Value> | undefined) => void): void {
    if (this.isFinished) callback(this.reply)
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
