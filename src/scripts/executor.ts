import {
  cameFromScript,
  classify,
  isCrossSlot,
  isDeclined,
  isLogin,
  scriptBrokeOff,
  withoutSecrets,
} from '../redis/reply/errors'
import type { OutageReporter } from '../redis/reports/outage-reporter'
import type { Clock, Moment, Timer } from '../util/clock'
import { Slices } from '../util/slices'
import { failedHere, NOT_READY, refused, unavailable, wrongType } from './call-errors'
import type { Script } from './script'
import { type AnyScriptCall, ScriptCall } from './script-call'
import type { ScriptTransport } from './transport'

export interface ScriptExecutorOptions {
  /** The client id and the server, for messages. */
  readonly clientId: string
  readonly transport: ScriptTransport
  readonly clock: Clock
  /** Receives the connection errors and the transient errors of calls. */
  readonly outages: OutageReporter
  /** Receives the refusals of the server. */
  readonly refusals: OutageReporter
  /** Credentials, which no error may contain. */
  readonly secrets: readonly string[]
  /** Whether credentials that the server refuses are replaced soon. */
  readonly logsInAgain: boolean
  /** A call without an answer is rejected after this time, in ms. */
  readonly unavailableAfter: number
  /** When a call has had no answer for this long, in ms, a PING checks the connections. */
  readonly silentAfter: number
}

const LONGEST_BACKOFF = 250

/** Connection errors and slot migrations that end within this time, in ms, are not reported. */
const REPORTED_AFTER = 1_000

/**
 * Sends scripts. A call sends the hash of its script, or the source if the server does not know the hash.
 * After a connection error or a transient error the executor retries the call, until it is answered or
 * `unavailableAfter` is over.
 */
export class ScriptExecutor {
  /** In no order. A Set costs a fifth more client CPU a cycle with 64 callers. */
  private readonly pending: AnyScriptCall[] = []
  private readonly retries = new Slices()
  private supervisor: Timer | undefined
  private probed: Moment | undefined
  private closed: unknown

  constructor(private readonly options: ScriptExecutorOptions) {}

  get isServerAway(): boolean {
    return this.options.transport.state === 'away'
  }

  run<Value>(
    script: Script<Value>,
    keys: readonly string[],
    args: readonly (string | number)[],
    needsReplica = false,
  ): ScriptCall<Value> {
    const { clock, transport } = this.options
    const call = new ScriptCall(script, keys, args, clock, transport.lastBroken, needsReplica)
    if (this.closed !== undefined) {
      this.end(call, this.closed)
      return call
    }
    call.place = this.pending.push(call) - 1
    this.supervisor ??= this.armSupervisor()
    this.send(call, false)
    return call
  }

  /** How many calls have no answer yet. */
  get inFlight(): number {
    return this.pending.length
  }

  /** Whether every call has been answered. A copy of one that was rejected may still be in flight. */
  get isIdle(): boolean {
    return this.pending.every(({ settled }) => settled)
  }

  /** Resolves when every call so far has been answered. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.pending.map((call) => call.answer))
  }

  /** Rejects every call that is still unanswered, and every call from now on. */
  close(errorFor: (mayHaveBeenApplied: boolean) => unknown): void {
    this.closed = errorFor(false)
    this.supervisor?.cancel()
    for (const call of [...this.pending])
      this.refuse(call, errorFor(call.isInFlight || call.mayHaveBeenApplied))
  }

  private send(call: AnyScriptCall, bySource: boolean, wasRedirected = false): void {
    const { transport } = this.options
    // ioredis would queue a command that is sent now. The server could apply it long after its caller has
    // left.
    if (transport.state !== 'ready') return this.failed(call, transport.refusal ?? NOT_READY[transport.state])
    call.isInFlight = true
    const answered = (raw: unknown, isFromOtherNode = false) => {
      const mustWait = isFromOtherNode && call.needsReplica && transport.sendAcknowledged
      if (!mustWait) return this.answered(call, raw, true)
      // That node may have replicas: a second copy waits for them. Both have the effect of one.
      call.hasLostCopy = true
      this.sendAgain(call, bySource, true)
    }
    const failed = (error: unknown) => this.failed(call, error)
    try {
      if (call.needsReplica && (wasRedirected || transport.mayHaveReplicas?.(call.keys[0]!)))
        transport.sendAcknowledged!(call, bySource).then(({ value, acknowledged, waitError }) => {
          if (!waitError) return this.answered(call, value, acknowledged)
          call.hasLostCopy = true
          failed(waitError)
        }, failed)
      else transport.send(call, bySource, answered, failed)
    } catch (error) {
      // Other code may have patched ioredis, and the command may be on its way all the same.
      this.broke(call, error)
    }
  }

  private answered<Value>(call: ScriptCall<Value>, raw: unknown, acknowledged: boolean) {
    this.unwatch(call)
    let value: Value
    try {
      value = call.script.decode(raw)
    } catch (error) {
      return this.broke(call, error)
    }
    const { hasLostCopy, sent } = call
    const reply = { value, sent, hasLostCopy, acknowledged }
    const { outages, refusals } = this.options
    if (outages.began) outages.answered()
    if (refusals.began) refusals.answered()
    call.resolve(reply)
  }

  private failed(call: AnyScriptCall, error: unknown): void {
    const { clock, outages, secrets, transport, unavailableAfter } = this.options
    const kind = this.kindOf(error)
    const isAway = error === NOT_READY.away
    call.isInFlight = false
    if (kind === 'connection' && !isAway) call.brokeOff(transport)
    else if (scriptBrokeOff(error)) call.hasLostCopy = true
    if (kind === 'noscript' && this.closed === undefined) return this.sendAgain(call, true)
    if (kind !== 'connection' && kind !== 'transient') return this.end(call, this.explain(kind, error, call))
    const shown = withoutSecrets(error, secrets)
    const age = clock.elapsedSince(call.started)
    const isTrouble = isDeclined(error) && error !== NOT_READY.loading
    if ((isTrouble || age >= REPORTED_AFTER) && this.closed === undefined) outages.failed(shown)
    if (call.settled || age >= unavailableAfter) return this.end(call, this.explain(kind, error, call))
    // A server error counts more than the closed connection that follows it: READONLY makes ioredis
    // reconnect.
    if (!isAway || !call.lastError) call.lastError = shown
    clock.after(call.backoff, () => this.retries.run(() => this.retry(call)))
  }

  /** The call threw in this client while it was sent, or its answer could not be read. */
  private broke(call: AnyScriptCall, error: unknown) {
    call.isInFlight = false
    call.hasLostCopy = true
    this.end(call, failedHere(call, this.options.clientId, withoutSecrets(error, this.options.secrets)))
  }

  private end(call: AnyScriptCall, error: unknown) {
    this.refuse(call, error)
    call.whenFenced(() => this.finish(call))
  }

  private retry(call: AnyScriptCall) {
    call.whenFenced(() => {
      if (call.settled) return this.finish(call)
      call.sent = this.options.clock.now()
      call.backoff = Math.min(2 * call.backoff, LONGEST_BACKOFF)
      this.sendAgain(call, false)
    })
    if (call.isFencePending) this.refuseWithConnection(call)
  }

  /**
   * Not where the process stood still, and the server may have forgotten that it has applied an earlier copy.
   */
  private sendAgain(call: AnyScriptCall, bySource: boolean, wasRedirected = false) {
    const { clientId, clock, unavailableAfter } = this.options
    const age = clock.elapsedSince(call.started)
    if (age < unavailableAfter || !call.mayHaveBeenApplied) this.send(call, bySource, wasRedirected)
    else this.end(call, unavailable(call, clientId, age, call.lastError))
  }

  /**
   * A server that refuses every new connection also allows no fence, so the call is rejected and does not
   * wait for one.
   */
  private refuseWithConnection(call: AnyScriptCall) {
    const { clock, transport } = this.options
    if (call.settled || !call.isFencePending) return
    const { refusal } = transport
    if (refusal && this.kindOf(refusal) === 'refused')
      this.refuse(call, this.explain('refused', refusal, call))
    if (!call.settled) clock.after(LONGEST_BACKOFF, () => this.refuseWithConnection(call))
  }

  private kindOf(error: unknown) {
    const { logsInAgain, transport } = this.options
    const kind = classify(error)
    // A connection that was not accepted may be accepted later, such as after the certificate of the server
    // was replaced.
    const mayPass = (logsInAgain && isLogin(error)) || (kind === 'final' && error === transport.refusal)
    return mayPass ? 'transient' : kind
  }

  private refuse(call: AnyScriptCall, error: unknown) {
    // A call in flight, or one that waits for a fence, stays supervised. Only the supervisor notices that a
    // connection went silent.
    if (!call.isInFlight && !call.isFencePending) this.unwatch(call)
    if (!call.settled) call.reject(error)
  }

  private finish(call: AnyScriptCall) {
    this.unwatch(call)
    call.finish(undefined)
  }

  private unwatch(call: AnyScriptCall) {
    const { place } = call
    if (place < 0) return
    call.place = -1
    const last = this.pending.pop()!
    if (last === call) return
    this.pending[place] = last
    last.place = place
  }

  /** The error for the caller. A refusal is reported as well. */
  private explain(kind: string, error: unknown, call: AnyScriptCall): Error {
    const { clientId, clock, secrets } = this.options
    const cause = withoutSecrets(error, secrets)
    if (kind === 'wrongtype') return wrongType(call, clientId, cause)
    if (kind === 'refused') return this.reported(refused(call, clientId, cause), error, call)
    const last = error === NOT_READY.away ? (call.lastError ?? cause) : cause
    return unavailable(call, clientId, clock.elapsedSince(call.started), last)
  }

  private reported(explained: Error, error: unknown, call: AnyScriptCall): Error {
    const { outages, refusals, transport } = this.options
    if (cameFromScript(error)) call.wasRefusedWithin = true
    // A renewal of several locks is sent again, by slot (leases/watchdog.ts).
    if (this.closed !== undefined || isCrossSlot(error)) return explained
    // A connection reports refused credentials as well; the same reporter makes one outage of both.
    const isOfConnection = error === transport.refusal || isLogin(error)
    const reporter = isOfConnection ? outages : refusals
    reporter.failed(explained)
    return explained
  }

  private armSupervisor(): Timer {
    const { silentAfter, unavailableAfter, clock } = this.options
    return clock.after(Math.min(silentAfter, unavailableAfter) / 4, () => {
      this.supervise()
      this.supervisor = this.pending.length > 0 ? this.armSupervisor() : undefined
    })
  }

  private supervise() {
    const { clientId, clock, outages, silentAfter, unavailableAfter, transport } = this.options
    for (const call of [...this.pending]) {
      const age = clock.elapsedSince(call.started)
      if (age >= unavailableAfter && !call.settled) {
        const error = unavailable(call, clientId, age, call.lastError)
        outages.failed(error)
        this.refuse(call, error)
      }
      if (
        age >= silentAfter &&
        (this.probed === undefined || clock.elapsedSince(this.probed) >= silentAfter)
      ) {
        this.probed = clock.now()
        transport.probe()
      }
    }
  }
}
