import { script } from '../../scripts/script'
import type { ScriptCall } from '../../scripts/script-call'
import { randomHex } from '../../util/random'
import { GRANTED } from '../../waiting/attempt'
import { BasePermitsAttempt, NO_SEMAPHORE, type PermitsAnswer } from '../base-permits-attempt'
import { messagesOf, untilRecheck } from '../synchronizer'
import { permitsOrphan } from './permit-release'

const ACQUIRE = script('permit-expirable-semaphore/acquire', decodeAcquire)

/** See lua/permit-expirable-semaphore/acquire.lua. */
function decodeAcquire(raw: unknown): PermitsAnswer {
  const [answer, free = NO_SEMAPHORE, wait = -1] = raw as number[]
  if (answer === TAKEN) return { ...GRANTED, free }
  // The wait ends with the next lease, or earlier: Java publishes no message when it shortens a lease.
  const recheck = untilRecheck()
  return { granted: false, blockedFor: wait < 0 ? recheck : Math.min(wait, recheck), free }
}

const TAKEN = 1

const ID_BYTES = 16
/**
 * One caller's attempt to acquire permits. Its ids are new, and all its tries use the same ids, so no permit
 * is acquired twice.
 */
export class LeasedPermitsAttempt extends BasePermitsAttempt {
  readonly ids = Array.from({ length: this.wanted.permits }, () => randomHex(ID_BYTES))

  protected ask(): ScriptCall<PermitsAnswer> {
    const { wanted, ids } = this
    const { client, keys } = this.semaphore
    const args = [wanted.leaseTime ?? 0, ...messagesOf(this.semaphore), ids.length, ...ids]
    return client.scripts.run(ACQUIRE, keys, args, true)
  }

  undo(inFlight: ScriptCall<PermitsAnswer> | undefined): void {
    const { semaphore, ids, wanted } = this
    semaphore.client.orphans.afterTry(permitsOrphan(semaphore, ids, wanted.leaseTime), inFlight)
  }
}
