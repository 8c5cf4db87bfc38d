import {
  type AnyScriptCall,
  type Attempt,
  type Orphan,
  type Outcome,
  ownerField,
  processState,
  type ScriptCall,
} from 'rlock/internal'
import type { Grantee } from './grant-lease'
import type { LeasedObject } from './leased-object'

/** One caller's attempt. Its owner is new, and all its tries have the same owner, so that they are granted once at most. */
export class GrantAttempt<Grant> implements Attempt<Grant>, Grantee {
  readonly threadId = processState.nextThreadId++
  readonly owner: string
  readonly waitTime: number
  readonly signal: AbortSignal | undefined
  readonly lease: number

  constructor(
    readonly object: LeasedObject,
    given: Pick<Attempt<Grant>, 'waitTime' | 'signal'>,
    private readonly ask: (owner: string, lease: number) => ScriptCall<Outcome<Grant>>,
  ) {
    const { clientId, lockWatchdogTimeout } = object.client
    this.owner = ownerField(clientId, this.threadId)
    this.waitTime = given.waitTime
    this.signal = given.signal
    this.lease = lockWatchdogTimeout
  }

  send(): ScriptCall<Outcome<Grant>> {
    return this.ask(this.owner, this.lease)
  }

  undo(inFlight: AnyScriptCall | undefined): void {
    this.object.client.orphans.afterTry(this.orphan(), inFlight)
  }

  orphan(
    lease = this.lease,
    release: () => Promise<unknown> = () => this.object.release(this.owner),
  ): Orphan {
    return { lease, release: async () => void (await release()) }
  }
}
