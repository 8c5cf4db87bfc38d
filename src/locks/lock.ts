import { script } from '../scripts/script'
import type { ScriptCall } from '../scripts/script-call'
import { type Outcome, outcomeOf } from '../waiting/attempt'
import { AcquireAttempt } from './base-lock-kind'
import { HashLockKind } from './hash-lock-kind'

const HAND_OFF = script('lock/handoff', outcomeOf)

/** Redisson's RLock: Java's in Redis, and with a local handoff. */
export class HandoffLockKind extends HashLockKind {
  protected override readonly Attempt = HandoffAttempt
}

class HandoffAttempt extends AcquireAttempt {
  takeOver(giver: string): ScriptCall<Outcome<undefined>> {
    const { kind, owner, lease } = this
    return kind.client.scripts.run(HAND_OFF, [kind.key], [giver, owner, lease], true)
  }
}
