import { script } from '../scripts/script'
import type { ScriptCall } from '../scripts/script-call'
import type { Outcome } from '../waiting/attempt'
import { HashLockKind } from './hash-lock-kind'
import { decodeAcquire } from './named-lock'

const HAND_OFF = script('lock/handoff', decodeAcquire)

/** Redisson's RLock: Java's in Redis, and with a local handoff. */
export class HandoffLockKind extends HashLockKind {
  handOff(giver: string, taker: string, lease: number): ScriptCall<Outcome<undefined>> {
    return this.client.scripts.run(HAND_OFF, this.keys, [giver, taker, lease], true)
  }
}
