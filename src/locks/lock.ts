import { decodeAcquire } from '../engine/lock-scripts'
import { script } from '../scripts/script'
import type { ScriptCall } from '../scripts/script-call'
import type { Outcome } from '../waiting/attempt'
import { HashLockScripts } from './hash-lock-scripts'

const HAND_OFF = script('lock/handoff', decodeAcquire)

/** Redisson's RLock: Java's in Redis, and with a local handoff. */
export class HandoffLockScripts extends HashLockScripts {
  handOff(giver: string, taker: string, lease: number): ScriptCall<Outcome<undefined>> {
    return this.context.scripts.run(HAND_OFF, this.keys, [giver, taker, lease], true)
  }
}
