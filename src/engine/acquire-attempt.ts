import type { Client } from '../client/client'
import type { ScriptCall } from '../scripts/script-call'
import { queueBeside, type WaitTarget } from '../waiting/admission'
import type { Outcome } from '../waiting/attempt'
import type { AttemptOptions, LockAttempt, LockKind, Payload } from './lock-kind'
import { lockOrphan } from './lock-orphan'

/** One owner's attempt at one lock. */
export class AcquireAttempt implements LockAttempt {
  at: string | undefined
  readonly takeOver?: (giver: string) => ScriptCall<Outcome<Payload>>

  constructor(
    protected readonly client: Client,
    private readonly kind: LockKind,
    readonly wanted: AttemptOptions,
    readonly target = queueFor(kind, wanted.companion),
  ) {
    if (kind.handOff) this.takeOver = this.handOff
  }

  send(): ScriptCall<Outcome<Payload>> {
    const { owner, lease, companion } = this.wanted
    return this.kind.acquire(owner, lease, companion)
  }

  undo(inFlight: ScriptCall<Outcome<Payload>> | undefined): void {
    const { client, kind, wanted } = this
    client.orphans.afterTry(lockOrphan(client, kind, wanted.owner, wanted.lease), inFlight)
  }

  private handOff(giver: string): ScriptCall<Outcome<Payload>> {
    return this.kind.handOff!(giver, this.wanted.owner, this.wanted.lease)
  }
}

/** A writer that reads may enter at once. It must not queue behind readers, which wait for the end of its write hold. */
function queueFor(kind: LockKind, companion: string | undefined): WaitTarget {
  return companion === undefined ? kind : queueBeside(kind, `companion ${companion}`)
}
