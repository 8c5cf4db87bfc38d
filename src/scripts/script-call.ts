import type { BrokenConnection } from '../redis/send/fences'
import type { Clock, Moment } from '../util/clock'
import type { Script } from './script'
import type { ScriptTransport } from './transport'

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

const FIRST_BACKOFF = 50

// biome-ignore lint/suspicious/noExplicitAny: a list of calls in flight does not care what each answers.
export type AnyScriptCall = ScriptCall<any>

/** One call of a script. After a broken connection or a transient error its command is sent again. */
export class ScriptCall<Value> {
  /** Its place among the calls that the executor supervises; below 0: it is none of them. */
  place = -1
  readonly started: Moment
  /** When its last copy was sent, apart from copies that only take another way to the server. */
  sent: Moment
  /** How long to wait before the next copy, in ms. */
  backoff = FIRST_BACKOFF
  private error: unknown
  private promise: Promise<Reply<Value>> | undefined
  private onReply: ((reply: Reply<Value>) => void) | undefined
  private onError: ((error: unknown) => void) | undefined
  private finished = false
  private whenFinished: ((reply: Reply<Value> | undefined) => void) | undefined
  /** The answer, which may have come after the caller had its error. */
  private reply: Reply<Value> | undefined
  /** The last error after which the command was sent again, without credentials. */
  lastError: Error | undefined
  /** A copy was sent and has not been answered. */
  isInFlight = false
  /**
   * A copy was sent and has no answer that counts, so the server may have applied it, whatever it says of the
   * next copy.
   */
  hasLostCopy = false
  /** The server refused a command within the script, which may have run others before. */
  wasRefusedWithin = false
  /** The connections that broke after a copy was sent on them. */
  private broken: BrokenConnection[] | undefined

  constructor(
    readonly script: Script<Value>,
    readonly keys: readonly string[],
    readonly args: readonly (string | number)[],
    clock: Clock,
    /** The last connection that had broken before the command was last sent. */
    private brokenBefore: BrokenConnection,
    /** A replica must have the writes before the answer counts. */
    readonly needsReplica: boolean,
  ) {
    this.started = this.sent = clock.now()
  }

  /** The caller has its answer or its error. The command may still be in flight. */
  get settled(): boolean {
    return this.finished || this.error !== undefined
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

  /** The answer came, perhaps after its caller has left. No copy is in flight any more. */
  resolve(reply: Reply<Value>): void {
    const { settled, onReply } = this
    // Young collections of V8 keep many calls that are over. With their callers they would keep so much that
    // the first 5,000 cycles cost a tenth more CPU.
    this.onReply = this.onError = undefined
    this.finish(reply)
    if (!settled) onReply?.(reply)
  }

  reject(error: unknown): void {
    this.error = error
    // The caller may have stopped listening.
    this.promise?.catch(() => {})
    this.onError?.(error)
  }

  /**
   * Calls back once no copy of this command is in flight: with the reply, or with undefined if there was
   * none.
   */
  onFinished(callback: (reply: Reply<Value> | undefined) => void): void {
    if (this.finished) callback(this.reply)
    else this.whenFinished = after(this.whenFinished, callback)
  }

  finish(reply: Reply<Value> | undefined): void {
    if (this.finished) return
    this.finished = true
    this.reply = reply
    this.whenFinished?.(reply)
  }

  /**
   * The connection broke just now on which the command was sent. If the slot of its key has moved since then,
   * either server may have received the command. The old server may never come back, so the call waits for a
   * fence of the new one only. A command that the server of the slot passed on by ASK is not fenced:
   * docs/evidence/reliability.md says what a copy of it can still do.
   */
  brokeOff(transport: ScriptTransport): void {
    this.hasLostCopy = true
    const server = transport.serverOf(this.keys[0]!)
    this.broken ??= []
    for (let each = this.brokenBefore.next; each; each = each.next)
      if (each.server === server) this.broken.push(each)
    this.brokenBefore = transport.lastBroken
  }

  /** Whether the server may have applied the command, or a part of it. */
  get mayHaveBeenApplied(): boolean {
    return this.hasLostCopy || this.wasRefusedWithin
  }

  /** Whether the fence of a broken connection is still pending. */
  get isFencePending(): boolean {
    return this.broken?.some(({ isPending }) => isPending) ?? false
  }

  /**
   * Calls back once no copy can arrive any more, or once no fence can ensure that. Before that the client
   * neither resends nor undoes the command.
   */
  whenFenced(callback: () => void): void {
    const pending = this.broken?.find(({ isPending }) => isPending)
    if (pending) pending.whenSettled(() => this.whenFenced(callback))
    else callback()
  }
}

function after<T>(first: ((value: T) => void) | undefined, next: (value: T) => void): (value: T) => void {
  if (!first) return next
  return (value) => {
    first(value)
    next(value)
  }
}
