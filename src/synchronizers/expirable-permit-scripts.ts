import type { LeasedPermitsWanted } from '../api/expirable-permit-arguments'
import type { Orphan } from '../leases/orphan-releaser'
import { suffixed } from '../scripts/key-names'
import { script } from '../scripts/script'
import type { ScriptCall } from '../scripts/script-call'
import { randomHex } from '../util/random'
import { GRANTED } from '../waiting/attempt'
import { NO_SEMAPHORE, type PermitsAnswer, PermitsAttempt } from './permits-attempt'
import { asUnknown, RETRIED_FOR } from './request-record'
import { changed, messagesOf, type Synchronizer, untilRecheck } from './synchronizer'

const ACQUIRE = script('permit-expirable-semaphore/acquire', decodeAcquire)
const RELEASE = script('permit-expirable-semaphore/release', decodeRelease)

/** See lua/permit-expirable-semaphore/acquire.lua. */
function decodeAcquire(raw: unknown): PermitsAnswer {
  const [answer, free = NO_SEMAPHORE, wait = -1] = raw as number[]
  if (answer === TAKEN) return { ...GRANTED, free }
  // The wait ends with the next lease, or earlier: Java publishes no message when it shortens a lease.
  const recheck = untilRecheck()
  return { granted: false, blockedFor: wait < 0 ? recheck : Math.min(wait, recheck), free }
}

const TAKEN = 1

/** A permit was in use, it was not in use, or its lease had ended. */
const STATES = { 1: 'released', 0: 'absent', [-1]: 'expired' } as const

/** `change` is for `changed`; and the state of each permit. */
function decodeRelease(raw: unknown) {
  const [change, ...states] = raw as [number, ...(keyof typeof STATES)[]]
  return { change, states: states.map((state) => STATES[state]) }
}

/** The sorted set of the permits in use. */
export function timeoutsKey(key: string): string {
  return suffixed(key, 'timeout')
}

/**
 * Releases the permits in use, and resolves with the state of each. With `all`, releases none if one of them is not in use or its
 * lease has ended.
 */
export async function releasePermits(semaphore: Synchronizer, ids: readonly string[], all: boolean) {
  const { client, keys } = semaphore
  const args = [all ? 1 : 0, ...messagesOf(semaphore), ...ids]
  const call = client.scripts.run(RELEASE, keys, args, true)
  const reply = await call.answer.catch((error) => Promise.reject(asUnknown(error, call)))
  const { change, states } = reply.value
  changed(semaphore, change)
  if (!reply.acknowledged)
    client.orphans.untilReplicated(async () => {
      const again = await client.scripts.run(RELEASE, keys, args, true).answer
      changed(semaphore, again.value.change)
      return again
    }, RETRIED_FOR)
  // After a broken connection "absent" may mean success: an earlier copy of this call was applied.
  const mayBeReleased = reply.connectionBroke && (!all || states.every((state) => state === 'absent'))
  return states.map((state) => (mayBeReleased && state === 'absent' ? 'released' : state))
}

/** Permits that may be in use although no caller has them. `lease`: in ms; undefined: without end. */
export function permitsOrphan(semaphore: Synchronizer, ids: readonly string[], lease?: number): Orphan {
  return {
    lease: lease ?? Number.POSITIVE_INFINITY,
    release: async () => void (await releasePermits(semaphore, ids, false)),
  }
}

const ID_BYTES = 16
/**
 * One caller's attempt to acquire permits. Its ids are new, and all its tries use the same ids, so no permit is acquired
 * twice.
 */
export class LeasedPermitsAttempt extends PermitsAttempt<LeasedPermitsWanted> {
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
