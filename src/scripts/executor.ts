import type { Moment, Timer } from '../util/clock'
import { Slices } from '../util/slices'
import { unavailable } from './call-errors'
import type { Script } from './script'
import { type AnyScriptCall, type CallEnvironment, ScriptCall } from './script-call'

export interface ScriptExecutorOptions extends Omit<CallEnvironment, 'retries' | 'unanswered' | 'closed'> {
  /** When a call has had no answer for this long, in ms, a PING checks the connections. */
  readonly silentAfter: number
}

/**
 * Makes the calls of a client, each of which sends itself. Looks after those that meet silence, counts the
 * unanswered ones, and ends them when the client is closed.
 */
export class ScriptExecutor {
  private readonly unanswered: AnyScriptCall[] = []
  private readonly environment: CallEnvironment & { closed: unknown }
  private silenceCheck: Timer | undefined
  /** When the connections were last checked. */
  private lastProbe: Moment | undefined

  constructor(private readonly options: ScriptExecutorOptions) {
    this.environment = { ...options, retries: new Slices(), unanswered: this.unanswered, closed: undefined }
  }

  get isServerAway(): boolean {
    return this.options.transport.state === 'away'
  }

  run<Value>(
    script: Script<Value>,
    keys: readonly string[],
    args: readonly (string | number)[],
    needsReplica = false,
  ): ScriptCall<Value> {
    const { environment } = this
    if (environment.closed === undefined) this.silenceCheck ??= this.armSilenceCheck()
    const canAsk = environment.transport.sendAcknowledged !== undefined
    const call = new ScriptCall(script, keys, args, needsReplica && canAsk, environment)
    call.start()
    return call
  }

  /** How many calls have no answer yet. */
  get inFlight(): number {
    return this.unanswered.length
  }

  /** Whether every call has been answered. A copy of one that was rejected may still be in flight. */
  get isIdle(): boolean {
    return this.unanswered.every(({ settled }) => settled)
  }

  /** Resolves when every call so far has been answered. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.unanswered.map((call) => call.answer))
  }

  /** Rejects every call that is still unanswered, and every call from now on. */
  close(errorFor: (mayHaveBeenApplied: boolean) => unknown): void {
    this.environment.closed = errorFor(false)
    this.silenceCheck?.cancel()
    for (const call of [...this.unanswered]) call.reject(errorFor(call.mayHaveBeenApplied))
  }

  private armSilenceCheck(): Timer {
    const { clock, outages, silentAfter, unavailableAfter, transport } = this.options
    return clock.after(Math.min(silentAfter, unavailableAfter) / 4, () => {
      for (const call of [...this.unanswered]) {
        if (call.age >= unavailableAfter && !call.settled) {
          const error = unavailable(call)
          outages.failed(error)
          call.reject(error)
        }
        if (call.age < silentAfter) continue
        if (this.lastProbe && clock.elapsedSince(this.lastProbe) < silentAfter) continue
        this.lastProbe = clock.now()
        transport.probe()
      }
      this.silenceCheck = this.unanswered.length > 0 ? this.armSilenceCheck() : undefined
    })
  }
}
