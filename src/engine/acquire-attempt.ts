import type { Client } from '../client/client'
import type { ScriptCall } from '../scripts/script-call'
import { queueBeside, type WaitTarget } from '../waiting/admission'
import type { Outcome } from '../waiting/attempt'
import { lockOrphan } from './lock-orphan'
import type { AttemptOptions, LockAttempt, LockScripts, Payload } from './lock-scripts'

/** One owner's attempt at one lock. */
export class AcquireAttempt implements LockAttempt {
  at: string | undefined
  readonly takeOver?: (giver: string) => ScriptCall<Outcome<Payload>>

  constructor(
    protected readonly context: Client,
    private readonly scripts: LockScripts,
    readonly wanted: AttemptOptions,
    readonly target = queueFor(scripts, wanted.companion),
  ) {
    if (scripts.handOff) this.takeOver = this.handOff
  }

  send(): ScriptCall<Outcome<Payload>> {
    const { owner, lease, companion } = this.wanted
    return this.scripts.acquire(owner, lease, companion)
  }

  undo(inFlight: ScriptCall<Outcome<Payload>> | undefined): void {
    const { context, scripts, wanted } = this
    context.orphans.afterTry(lockOrphan(context, scripts, wanted.owner, wanted.lease), inFlight)
  }

  private handOff(giver: string): ScriptCall<Outcome<Payload>> {
    return this.scripts.handOff!(giver, this.wanted.owner, this.wanted.lease)
  }
}

/** A writer that reads may enter at once. It must not queue behind readers, which wait for the end of its write hold. */
function queueFor(scripts: LockScripts, companion: string | undefined): WaitTarget {
  return companion === undefined ? scripts : queueBeside(scripts, `companion ${companion}`)
}
