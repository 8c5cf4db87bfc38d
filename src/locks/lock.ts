import { script } from '../scripts/script'
import type { ScriptCall } from '../scripts/script-call'
import { type Outcome, outcomeOf } from '../waiting/attempt'
import { AcquireAttempt } from './base-lock-kind'
import { HashLockKind } from './hash-lock-kind'

const HAND_OFF = script('lock/handoff', outcomeOf)

/** Redisson's RLock: Java's in Redis, and with a local handoff. */
export class HandoffLockKind extends HashLockKind {
  protected override readonly Attempt = HandoffAttempt

  handOff(giver: string, taker: string, lease: number): ScriptCall<Outcome<undefined>> {
    return this.client.scripts.run(HAND_OFF, this.keys, [giver, taker, lease], true)
  }
}

class HandoffAttempt extends AcquireAttempt<HandoffLockKind> {
  takeOver(giver: string): ScriptCall<Outcome<undefined>> {
    return this.kind.handOff(giver, this.owner, this.lease)
  }
}
