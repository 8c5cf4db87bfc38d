import { PermitNotHeldError } from '../../api/errors'
import type { Orphan } from '../../leases/orphan-releaser'
import { suffixed } from '../../scripts/key-names'
import { script } from '../../scripts/script'
import { quote } from '../../util/quote'
import { asUnknown, RETRIED_FOR } from '../request-record'
import { messagesOf, type Synchronizer } from '../synchronizer'

const RELEASE = script('permit-expirable-semaphore/release', decodeRelease)

/** A permit was in use, it was not in use, or its lease had ended. */
const STATES = { 1: 'released', 0: 'absent', [-1]: 'expired' } as const

/** `change`: whether that was published; and the state of each permit. */
function decodeRelease(raw: unknown) {
  const [change, ...states] = raw as [number, ...(keyof typeof STATES)[]]
  return { change, states: states.map((state) => STATES[state]) }
}

/** The sorted set of the permits in use. */
export function timeoutsKey(key: string): string {
  return suffixed(key, 'timeout')
}

/**
 * Releases the permits in use, and resolves with the state of each. With `all`, releases none if one of them
 * is not in use or its lease has ended.
 */
export async function releasePermits(semaphore: Synchronizer, ids: readonly string[], all: boolean) {
  const { client, keys, target } = semaphore
  const args = [all ? 1 : 0, ...messagesOf(semaphore), ...ids]
  const send = async () => {
    const call = client.scripts.run(RELEASE, keys, args, true)
    const reply = await call.answer.catch((error) => Promise.reject(asUnknown(error, call)))
    client.queues.changed(target, reply.value.change)
    return reply
  }
  const reply = await send()
  const { states } = reply.value
  if (!reply.acknowledged) client.orphans.untilReplicated(send, RETRIED_FOR)
  // After a broken connection "absent" may mean success: an earlier copy of this call was applied.
  const mayBeReleased = reply.hasLostCopy && (!all || states.every((state) => state === 'absent'))
  return states.map((state) => (mayBeReleased && state === 'absent' ? 'released' : state))
}

/** Permits that may be in use although no caller has them. `lease`: in ms; undefined: without end. */
export function permitsOrphan(semaphore: Synchronizer, ids: readonly string[], lease?: number): Orphan {
  return {
    lease: lease ?? Number.POSITIVE_INFINITY,
    release: async () => void (await releasePermits(semaphore, ids, false)),
  }
}

/** For a caller whose permits, or some of them, are no longer in use. */
export function notInUse(
  { name, client }: Synchronizer,
  ids: readonly string[],
  outOf: number,
): PermitNotHeldError {
  return new PermitNotHeldError(
    `${ids.length} of ${outOf} permits of the semaphore ${quote(name)} are not in use (client ` +
      `${client.clientId}): they were released already, or their leases ran out ` +
      `(${ids.slice(0, 3).join(', ')}${ids.length > 3 ? ', …' : ''}). Release a permit once, and acquire ` +
      'another one where needed.',
    name,
    ids,
  )
}
