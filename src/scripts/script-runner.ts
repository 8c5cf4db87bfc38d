import { RedisUnavailableError, WrongTypeError } from '../api/errors'
import { brokeOff, classify, isRefusal, withoutSecrets } from '../connection/failures'
import type { Outages } from '../connection/outages'
import { outsideThreads } from '../ownership/logical-thread'
import type { Clock, Moment, Timer } from '../runtime/clock'
import type { Script } from './script'
import type { ScriptTransport } from './script-transport'

/** What came back, and what the caller must know to judge it. */
export interface Reply {
  readonly value: unknown
  /** When the copy that was answered was handed over for the first time. */
  readonly sent: Moment
  /** A connection broke in between, so an earlier copy may have been applied already. */
  readonly connectionBroke: boolean
  /** A replica has it, or need not have it. */
  readonly acknowledged: boolean
}

export interface ScriptRunnerOptions {
  readonly transport: ScriptTransport
  readonly clock: Clock
  /** There may be replicas to wait for. */
  readonly hasReplicas: boolean
  /** Told of what calls meet. */
  readonly outages: Outages
  /** Credentials that may appear in no error. */
  readonly secrets: readonly string[]
  /** A call that met nothing but connection errors for this long is rejected. */
  readonly unavailableAfter: number
  /** A call without an answer for this long makes us look whether its connection has gone silent. */
  readonly silentAfter: number
}

const FIRST_BACKOFF = 50
const LONGEST_BACKOFF = 250

/** Trouble that sorts itself out within this time, as a reconnect or a slot on the move does, is none to tell of. */
const TOLD_AFTER = 1_000

const NOT_READY = {
  loading: new Error('LOADING the server is not ready yet'),
  away: new Error('Connection is closed'),
}

/** One script on its way, through as many attempts as it takes. */
export class ScriptCall {
  readonly started: Moment
  /** The answer has been given or refused; the command itself may still be under way. */
  settled = false
  private reply: Reply | undefined
  private error: unknown
  private promise: Promise<Reply> | undefined
  private onReply: ((reply: Reply) => void) | undefined
  private onError: ((error: unknown) => void) | undefined
  private finished = false
  private whenFinished: ((reply: Reply | undefined) => void) | undefined
  private late: Reply | undefined
  /** Why it was sent again, without credentials. */
  lastError: Error | undefined
  /** A copy was handed over and has not been answered. */
  isUnderWay = false
  /** An attempt ended with its connection: nobody knows whether it was applied. */
  mayHaveBeenApplied = false

  constructor(
    readonly script: Script,
    readonly keys: readonly string[],
    readonly args: readonly (string | number)[],
    clock: Clock,
    readonly breaksBefore: number,
    /** A replica must have it before it counts. */
    readonly acknowledged: boolean,
  ) {
    this.started = clock.now()
  }

  get answer(): Promise<Reply> {
    this.promise ??= new Promise((resolve, reject) => this.whenAnswered(resolve, reject))
    return this.promise
  }

  /** Calls back at once where the answer is there already, and before any callback that asks later. */
  whenAnswered(onReply: (reply: Reply) => void, onError: (error: unknown) => void): void {
    if (this.reply) onReply(this.reply)
    else if (this.settled) onError(this.error)
    else {
      const { onReply: replyBefore, onError: errorBefore } = this
      this.onReply = replyBefore ? (reply) => void (replyBefore(reply), onReply(reply)) : onReply
      this.onError = errorBefore ? (error) => void (errorBefore(error), onError(error)) : onError
    }
  }

  resolve(reply: Reply): void {
    this.settled = true
    this.reply = reply
    this.onReply?.(reply)
  }

  reject(error: unknown): void {
    this.settled = true
    this.error = error
    // The one who started the call may have turned away already.
    this.promise?.catch(() => {})
    this.onError?.(error)
  }

  /** Calls back once no copy of ours is under way any more: with the reply, or without when none came. */
  onFinished(callback: (reply: Reply | undefined) => void): void {
    if (this.finished) callback(this.late)
    else this.whenFinished = callback
  }

  finish(reply: Reply | undefined): void {
    this.finished = true
    this.late = reply
    this.whenFinished?.(reply)
  }
}

/**
 * Sends scripts and sees each through: by hash, with the source when the server forgot it, again after an
 * error that passes, until it is answered or has met nothing but trouble for too long.
 */
export class ScriptRunner {
  private readonly pending = new Set<ScriptCall>()
  private supervisor: Timer | undefined
  private probed: Moment | undefined
  private closed: unknown

  constructor(private readonly options: ScriptRunnerOptions) {}

  get isServerAway(): boolean {
    return this.options.transport.state === 'away'
  }

  run(
    script: Script,
    keys: readonly string[],
    args: readonly (string | number)[],
    acknowledged = false,
  ): ScriptCall {
    const { clock, transport } = this.options
    const needsReplica = acknowledged && this.options.hasReplicas
    const call = new ScriptCall(script, keys, args, clock, transport.breaks, needsReplica)
    if (this.closed !== undefined) {
      call.reject(this.closed)
      call.finish(undefined)
      return call
    }
    this.pending.add(call)
    this.supervisor ??= this.armSupervisor()
    this.attempt(call, call.started, false, FIRST_BACKOFF)
    return call
  }

  /** Resolves when every call so far has been answered. */
  async idle(): Promise<void> {
    await Promise.allSettled([...this.pending].map((call) => call.answer))
  }

  /** Rejects what is still unanswered, and everything asked for from now on. */
  close(error: unknown): void {
    this.closed = error
    this.supervisor?.cancel()
    for (const call of this.pending) this.refuse(call, error)
  }

  private attempt(call: ScriptCall, sent: Moment, bySource: boolean, backoff: number): void {
    const { transport } = this.options
    // Handed over in this state it would sit in a queue and be applied long after its caller has left.
    if (transport.state !== 'ready') return this.failed(call, sent, backoff, NOT_READY[transport.state])
    call.isUnderWay = true
    const failed = (error: unknown) => this.failed(call, sent, backoff, error)
    if (call.acknowledged)
      transport
        .sendAcknowledged(call.script, bySource, call.keys, call.args)
        .then(({ value, acknowledged }) => this.answered(call, sent, value, acknowledged), failed)
    else
      transport
        .send(call.script, bySource, call.keys, call.args)
        .then((value) => this.answered(call, sent, value, true), failed)
  }

  private answered(call: ScriptCall, sent: Moment, value: unknown, acknowledged: boolean) {
    const connectionBroke = call.mayHaveBeenApplied || this.options.transport.breaks !== call.breaksBefore
    const reply: Reply = { value, sent, connectionBroke, acknowledged }
    this.options.outages.answered()
    this.pending.delete(call)
    if (!call.settled) call.resolve(reply)
    call.finish(reply)
  }

  private failed(call: ScriptCall, sent: Moment, backoff: number, error: unknown): void {
    const { clock, outages, unavailableAfter } = this.options
    const kind = classify(error)
    call.isUnderWay = false
    if (kind === 'noscript' && this.closed === undefined) return this.attempt(call, sent, true, backoff)
    const mayPass = kind === 'connection' || kind === 'passing'
    const isTrouble = isRefusal(error) && error !== NOT_READY.loading
    if (mayPass && (isTrouble || clock.elapsedSince(call.started) >= TOLD_AFTER) && this.closed === undefined)
      outages.met(withoutSecrets(error, this.options.secrets))
    if (mayPass && !call.settled && clock.elapsedSince(call.started) < unavailableAfter) {
      // Being away between two refusals (after READONLY we connect anew) is not what the call has met.
      if (error !== NOT_READY.away || !call.lastError)
        call.lastError = withoutSecrets(error, this.options.secrets)
      if ((kind === 'connection' && error !== NOT_READY.away) || brokeOff(error))
        call.mayHaveBeenApplied = true
      clock.after(backoff, () => {
        if (call.settled) call.finish(undefined)
        else this.attempt(call, clock.now(), false, Math.min(2 * backoff, LONGEST_BACKOFF))
      })
      return
    }
    this.refuse(call, this.explain(kind, error, call))
    call.finish(undefined)
  }

  private refuse(call: ScriptCall, error: unknown) {
    this.pending.delete(call)
    if (!call.settled) call.reject(error)
  }

  private explain(kind: string, error: unknown, call: ScriptCall): Error {
    const cause = withoutSecrets(error, this.options.secrets)
    if (error === NOT_READY.away) return this.unavailable(call, call.lastError ?? cause)
    if (kind === 'wrongtype')
      return new WrongTypeError(
        `The key ${JSON.stringify(shorten(call.keys[0]))} holds no lock of this kind`,
        { cause },
      )
    if (kind === 'connection' || kind === 'passing') return this.unavailable(call, cause)
    return cause
  }

  private unavailable(call: ScriptCall, cause?: Error): RedisUnavailableError {
    const ms = Math.round(this.options.clock.elapsedSince(call.started))
    const why = cause ? `: ${cause.message}` : ''
    return new RedisUnavailableError(
      `Redis did not answer ${call.script.name} for ${JSON.stringify(shorten(call.keys[0]))} within ${ms} ms${why}`,
      cause && { cause },
    )
  }

  private armSupervisor(): Timer {
    const { silentAfter, unavailableAfter, clock } = this.options
    return outsideThreads(() =>
      clock.after(Math.min(silentAfter, unavailableAfter) / 4, () => {
        this.supervise()
        this.supervisor = this.pending.size > 0 ? this.armSupervisor() : undefined
      }),
    )
  }

  private supervise() {
    const { clock, outages, silentAfter, unavailableAfter, transport } = this.options
    for (const call of this.pending) {
      const age = clock.elapsedSince(call.started)
      if (age >= unavailableAfter) {
        const error = this.unavailable(call, call.lastError)
        outages.met(error)
        this.refuse(call, error)
      } else if (age < silentAfter) return
      else if (this.probed === undefined || clock.elapsedSince(this.probed) >= silentAfter) {
        this.probed = clock.now()
        transport.probe()
      }
    }
  }
}

function shorten(key: string | undefined): string {
  return key !== undefined && key.length > 200 ? `${key.slice(0, 200)}…` : (key ?? '')
}
