import type { Context } from '../client/context'
import type { LogicalThread } from '../ownership/logical-thread'
import type { ScriptCall } from '../scripts/script-call'
import { quote } from '../util/quote'
import { queueBeside, type WaitTarget } from '../waiting/admission'
import type { Outcome } from '../waiting/attempt'
import type { Hold } from './hold'
import type { AnyLockScripts, AttemptOptions, LockAttempt, LockScripts } from './lock-scripts'
import { lockOrphan } from './release'
import { warnOfOtherClients } from './self-wait-across-clients'

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
