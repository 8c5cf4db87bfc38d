import type { Attempt, Outcome, ScriptCall } from 'rlock/internal'
import { GrantAttempt } from './grant-attempt'
import { GrantLease } from './grant-lease'
import type { LeasedObject } from './leased-object'

/** A grant and its lease. Without a lease, nothing is to be released. */
export interface Granted<Grant> {
  readonly grant: Grant
  readonly lease: GrantLease | undefined
}

/** Waits for a grant, and has its lease renewed. Undefined: the wait was over. */
export async function acquire<Grant>(
  object: LeasedObject,
  wanted: Pick<Attempt<Grant>, 'waitTime' | 'signal'>,
  ask: (owner: string, lease: number) => ScriptCall<Outcome<Grant>>,
  isLeased: (grant: Grant) => boolean = () => true,
): Promise<Granted<Grant> | undefined> {
  const { client, target } = object
  for (;;) {
    client.assertOpen()
    wanted.signal?.throwIfAborted()
    const attempt = new GrantAttempt(object, wanted, ask)
    const reply = await client.acquire(target, attempt)
    if (!reply) return undefined
    const { grant } = reply.value
    if (!isLeased(grant)) return { grant, lease: undefined }
    const lease = new GrantLease(attempt, reply.sent)
    if (!lease.book.isPastDeadline && !client.closing.aborted) {
      client.leases.begin(lease)
      return { grant, lease }
    }
    // The answer came too late, or the client began to shut down in the same tick.
    client.orphans.releaseNow(attempt.orphan(), reply.sent)
  }
}
