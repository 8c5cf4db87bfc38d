import { createHash } from 'node:crypto'
import { WrongTypeError } from '../api/errors'
import type { Client } from '../client/client'
import { quote } from '../util/quote'
import type { LockState } from './leased-lock'
import type { LockKind } from './lock-kind'

/** What the client reads in place of bytes that are no UTF-8. */
const NO_TEXT = '\uFFFD'

/** Frees the lock of the owners that it finds. False: it was free, or these owners have left meanwhile. */
export async function forceUnlock(client: Client, kind: LockKind): Promise<boolean> {
  const { holders } = await inspectLock(kind)
  if (holders.length === 0) return false
  const before = [...client.leases.live.on(kind.key)].filter(({ objectId }) =>
    kind.relatedIds.includes(objectId),
  )
  const { answer } = kind.forceRelease(holders)
  const { value, hasLostCopy } = await client.queues.followRelease(kind, answer)
  // The holders have left by themselves, and others may have come. On a hot lock this may be so each time.
  if (value.result === 'not-held' && !hasLostCopy) {
    if (!holders.some((holder) => holder.includes(NO_TEXT))) return false
    throw new WrongTypeError(
      `The key ${quote(kind.key)} has a field that is no text, so it is no lock (client ` +
        `${client.clientId}). Use another name. If nothing needs the key, delete it.`,
    )
  }
  const seen = (owner: string) =>
    kind.ownerIsSecret ? createHash('sha1').update(owner).digest('hex') : owner
  const forced = before.filter(({ ownerField }) => holders.includes(seen(ownerField)))
  // A forced release of a writer also ends its reads, and no other owner reads beside it. "Not held" after
  // a broken connection means the same, unless the writer has released the write side and only reads since.
  const all = !kind.shared && (value.result !== 'not-held' || forced.some(({ state }) => state === 'held'))
  // The answer to a release in flight says what has become of its hold.
  for (const hold of all ? before : forced) if (hold.state === 'held') hold.lose('forced')
  return true
}

/** Its holders, and how long it stays. The count is of no owner. */
export async function inspectLock(kind: LockKind): Promise<LockState> {
  return (await kind.inspect('').answer).value
}
