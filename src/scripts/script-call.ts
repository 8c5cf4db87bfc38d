import type { Clock, Moment } from '../util/clock'
import type { Linked } from '../util/linked-list'
import type { Script } from './script'
import type { ScriptTransport } from './transport'
import { UnansweredSends } from './unanswered-sends'

/** The answer to a script, and what its caller must know about the connection. */
export interface Reply<Value> {
  readonly value: Value
  /** When the client sent the copy of the command that was answered. */
  readonly sent: Moment
  /** A connection broke before the answer, so an earlier copy may have been applied as well. */
  readonly connectionBroke: boolean
  /** A replica has the writes, or none needs to have them. */
  readonly acknowledged: boolean
}

// biome-ignore lint/suspicious/noExplicitAny: a list of calls in flight does not care what each answers.
export type AnyScriptCall = ScriptCall<any>

/** One call of a script. After a broken connection or a transient error its command is sent again. */
export class ScriptCall<Value> extends UnansweredSends implements Linked<AnyScriptCall> {
  before: AnyScriptCall | undefined
  behind: AnyScriptCall | undefined
  isPending = false
  readonly started: Moment
  /** The caller has its answer or its error. The command may still be in flight. */
  settled = false
  private reply: Reply<Value> | undefined
  private error: unknown
  private promise: Promise<Reply<Value>> | undefined
  private onReply: ((reply: Reply<Value>) => void) | undefined
  private onError: ((error: unknown) => void) | undefined
  private finished = false
  private whenFinished: ((reply: Reply<Value> | undefined) => void) | undefined
  private late: Reply<Value> | undefined
  /** The last error after which the command was sent again, without credentials. */
  lastError: Error | undefined
  /** A copy was sent and has not been answered. */
  isInFlight = false

  constructor(
    readonly script: Script<Value>,
    readonly keys: readonly string[],
    readonly args: readonly (string | number)[],
    clock: Clock,
    brokenBefore: ScriptTransport['lastBroken'],
    /** A replica must have the writes before the answer counts. */
    readonly acknowledged: boolean,
  ) {
    super(brokenBefore)
    this.started = clock.now()
  }

  get answer(): Promise<Reply<Value>> {
    this.promise ??= new Promise((resolve, reject) => this.whenAnswered(resolve, reject))
    return this.promise
  }

  /** Calls back with the answer; at once if it has arrived. Callbacks run in the order of their registration. */
  whenAnswered(onReply: (reply: Reply<Value>) => void, onError: (error: unknown) => void): void {
    if (this.reply) onReply(this.reply)
    else if (this.settled) onError(this.error)
    else {
      this.onReply = after(this.onReply, onReply)
      this.onError = after(this.onError, onError)
    }
  }

  resolve(reply: Reply<Value>): void {
    this.settled = true
    this.reply = reply
    this.onReply?.(reply)
  }

  reject(error: unknown): void {
    this.settled = true
    this.error = error
    // The caller may have stopped listening.
    this.promise?.catch(() => {})
    this.onError?.(error)
  }

  /** Calls back once no copy of this command is in flight: with the reply, or with undefined if there was none. */
  onFinished(callback: (reply: Reply<Value> | undefined) => void): void {
    if (this.finished) callback(this.late)
    else this.whenFinished = after(this.whenFinished, callback)
  }

  finish(reply: Reply<Value> | undefined): void {
    if (this.finished) return
    this.finished = true
    this.late = reply
    this.whenFinished?.(reply)
  }
}

function after<T>(first: ((value: T) => void) | undefined, next: (value: T) => void): (value: T) => void {
  if (!first) return next
  return (value) => {
    first(value)
    next(value)
  }
}
