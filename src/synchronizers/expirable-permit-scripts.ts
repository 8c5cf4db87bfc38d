import type { LeasedPermitsWanted } from '../api/expirable-permit-arguments'
import type { Orphan } from '../leases/orphan-releaser'
import { suffixed } from '../redis/names'
import { script } from '../scripts/script'
import type { ScriptCall } from '../scripts/script-call'
import { randomHex } from '../util/random'
import { GRANTED } from '../waiting/attempt'
import { NO_SEMAPHORE, type PermitsAnswer, PermitsAttempt } from './permits-attempt'
import { asUnknown } from './request-record'
import { changed, messagesOf, type Synchronizer, untilRecheck } from './synchronizer'

const ACQUIRE = script('permit-expirable-semaphore/acquire', decodeAcquire)
const RELEASE = script('permit-expirable-semaphore/release', decodeRelease)

/** See lua/permit-expirable-semaphore/acquire.lua. */
function decodeAcquire(raw: unknown): PermitsAnswer {
  const [answer, free = NO_SEMAPHORE, wait = -1] = raw as number[]
  if (answer === TAKEN) return GRANTED
  // The wait ends with the next lease, or earlier: Java publishes no message when it shortens a lease.
  const recheck = untilRecheck()
  return { granted: false, blockedFor: wait < 0 ? recheck : Math.min(wait, recheck), free }
}

const TAKEN = 1

/** The answer to a release of permits. */
export interface ReleaseReply {
  /** For `Synchronizer.changed`. */
  readonly change: number
  /** For each permit: it was in use, its lease had ended, or it was not in use. */
  readonly states: readonly ('released' | 'expired' | 'absent')[]
}

function decodeRelease(raw: unknown): ReleaseReply {
  const [change = 0, ...states] = raw as number[]
  return {
    change,
    states: states.map((state) => (state === 1 ? 'released' : state === -1 ? 'expired' : 'absent')),
  }
}

/** The sorted set of the permits in use. */
export function timeoutsKey(key: string): string {
  return suffixed(key, 'timeout')
}

/** Releases the permits in use. With `all`, releases none if one of them is not in use or its lease has ended. */
export async function releasePermits(semaphore: Synchronizer, ids: readonly string[], all: boolean) {
  const args = [all ? 1 : 0, ...messagesOf(semaphore), ...ids]
  const call = semaphore.context.scripts.run(RELEASE, semaphore.keys, args, true)
  const reply = await call.answer.catch((error) => Promise.reject(asUnknown(error, call)))
  changed(semaphore, reply.value.change)
  return reply
}

/** Permits that may be in use although no caller has them. `lease`: in ms; undefined: without end. */
export function permitsOrphan(
  semaphore: Synchronizer,
  ids: readonly string[],
  lease = Number.POSITIVE_INFINITY,
): Orphan {
  return { lease, release: async () => void (await releasePermits(semaphore, ids, false)) }
}

const ID_BYTES = 16
/**
 * One caller's attempt to acquire permits. Its ids are new, and all its tries use the same ids, so no permit is acquired
 * twice.
 */
export class LeasedPermitsAttempt extends PermitsAttempt {
  readonly ids: readonly string[]

  constructor(
    semaphore: Synchronizer,
    override readonly wanted: LeasedPermitsWanted,
  ) {
    super(semaphore, wanted)
    this.ids = Array.from({ length: wanted.permits }, () => randomHex(ID_BYTES))
  }

  protected ask(): ScriptCall<PermitsAnswer> {
    const { wanted, ids } = this
    const { context, keys } = this.semaphore
    const args = [wanted.leaseTime ?? 0, ...messagesOf(this.semaphore), ids.length, ...ids]
    return context.scripts.run(ACQUIRE, keys, args, true)
  }

  undo(inFlight: ScriptCall<PermitsAnswer> | undefined): void {
    const { semaphore, ids, wanted } = this
    semaphore.context.orphans.afterTry(permitsOrphan(semaphore, ids, wanted.leaseTime), inFlight)
  }
}
