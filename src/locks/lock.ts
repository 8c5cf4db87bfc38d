import { decodeAcquire, decodeReenter, type LockScripts, type ReenterReply } from '../engine/lock-scripts'
import { script } from '../scripts/script'
import type { ScriptCall } from '../scripts/script-call'
import type { Outcome } from '../waiting/attempt'
import { HashLockScripts } from './hash-lock-scripts'

const ACQUIRE = script('lock/acquire', decodeAcquire)
const REENTER = script('lock/reenter', decodeReenter)
const HAND_OFF = script('lock/handoff', decodeAcquire)

/** Java's RLock in Redis. */
export class PlainLockScripts extends HashLockScripts implements LockScripts {
  acquire(owner: string, lease: number): ScriptCall<Outcome<undefined>> {
    return this.context.scripts.run(ACQUIRE, this.keys, [owner, lease], true)
  }

  reenter(owner: string, lease: number, count: number, releasedEnd: number): ScriptCall<ReenterReply> {
    return this.context.scripts.run(REENTER, this.keys, [owner, lease, count, releasedEnd], true)
  }
}

/** Redisson's RLock: the same, with a local handoff. */
export class HandoffLockScripts extends PlainLockScripts {
  handOff(giver: string, taker: string, lease: number): ScriptCall<Outcome<undefined>> {
    return this.context.scripts.run(HAND_OFF, this.keys, [giver, taker, lease], true)
  }
}
