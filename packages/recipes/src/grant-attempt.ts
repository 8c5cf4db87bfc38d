import {
  type AnyScriptCall,
  type Attempt,
  type Orphan,
  type Outcome,
  ownerField,
  processState,
  type ScriptCall,
  type Wanted,
} from 'rlock/internal'
import type { Grantee } from './grant-lease'
import type { LeasedObject } from './leased-object'

/** One caller's attempt. Its owner is new, and all its tries have the same owner, so that they are granted once at most. */
export class GrantAttempt<Grant> implements Attempt<Grant>, Grantee {
  readonly threadId = processState.nextThreadId++
  readonly owner: string
  readonly wanted: Wanted & { readonly lease: number }

  constructor(
    readonly object: LeasedObject,
    given: Pick<Wanted, 'waitTime' | 'signal'>,
    private readonly ask: (owner: string, lease: number) => ScriptCall<Outcome<Grant>>,
  ) {
    const { clientId, lockWatchdogTimeout: lease } = object.client
    this.owner = ownerField(clientId, this.threadId)
    this.wanted = { ...given, lease, threadId: this.threadId }
  }

  send(): ScriptCall<Outcome<Grant>> {
    return this.ask(this.owner, this.wanted.lease)
  }

  undo(inFlight: AnyScriptCall | undefined): void {
    this.object.client.orphans.afterTry(this.orphan(), inFlight)
  }

  orphan(
    lease = this.wanted.lease,
    release: () => Promise<unknown> = () => this.object.release(this.owner),
  ): Orphan {
    return { lease, release: async () => void (await release()) }
  }
}
