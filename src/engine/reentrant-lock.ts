import { createHash } from 'node:crypto'
import { inspect } from 'node:util'
import type { AcquireArguments } from '../api/arguments'
import { WrongTypeError } from '../api/errors'
import type { Client } from '../client/client'
import { MEMBER, type MemberIdentity } from '../client/member-identity'
import type { BareLevels } from '../ownership/bare-levels'
import type { HoldEntry } from '../ownership/hold-table'
import { quote } from '../util/quote'
import { acquire } from './acquire'
import { AcquireRequest } from './acquire-request'
import type { Caller, Hold, Level } from './hold'
import { LockHandle } from './lock-handle'
import { ACQUIRE_FOR, HANDLE_OF, LEVELS_OF, RELEASE_LEVEL } from './lock-internals'
import type { LockKind, LockState } from './lock-kind'
import { countOf, OwnedLock } from './owned-lock'
import { release } from './release'
import type { RLock } from './rlock'
import { waitForSiblingBranches } from './wait-for-sibling-branches'

/** What the client reads in place of bytes that are no UTF-8. */
const NO_TEXT = '\uFFFD'

/**
 * The methods of RLock over any kind of lock; the interface documents them. `Handle` is its class of
 * LockHolds.
 */
export class ReentrantLock<Handle extends LockHandle = LockHandle>
  extends OwnedLock<Hold, Handle>
  implements RLock
{
  constructor(
    client: Client,
    protected readonly kind: LockKind,
    private readonly Handle: new (kind: LockKind, level: Level) => Handle | LockHandle = LockHandle,
  ) {
    super(client, kind)
  }

  getName(): string {
    return this.kind.name
  }

  /** The identity of this lock for a multi lock of which it is a member. */
  get [MEMBER](): MemberIdentity {
    const { client, kind } = this
    const { name, key, objectId } = kind
    const mustYield = () => client.queues.mustYield(kind)
    return { name, key, objectId, client, server: client.connections.identity, mustYield }
  }

  // A log must not show the client inside, which has credentials.
  [inspect.custom](): string {
    const { name, shownAs = 'RLock' } = this.kind
    return `${shownAs}(${quote(name)})`
  }

  toJSON(): object {
    return { name: this.getName() }
  }

  async forceUnlock(): Promise<boolean> {
    this.client.assertOpen()
    const { holders } = await inspectLock(this.kind, '')
    if (holders.length === 0) return false
    const before = [...this.client.leases.live.on(this.kind.key)].filter(({ objectId }) =>
      this.kind.relatedIds.includes(objectId),
    )
    this.client.queues.releasing(this.kind)
    const { value, connectionBroke } = await this.kind.forceRelease(holders).answer
    // The holders have left by themselves, and others may have come. On a hot lock this may be so each time.
    if (value.result === 'not-held' && !connectionBroke) {
      if (!holders.some((holder) => holder.includes(NO_TEXT))) return false
      throw new WrongTypeError(
        `The key ${quote(this.kind.key)} has a field that is no text, so it is no lock (client ` +
          `${this.client.clientId}). Use another name. If nothing needs the key, delete it.`,
      )
    }
    const seen = (owner: string) =>
      this.kind.ownerIsSecret ? createHash('sha1').update(owner).digest('hex') : owner
    const forced = before.filter(({ ownerField }) => holders.includes(seen(ownerField)))
    // A forced release of a writer also ends its reads, and no other owner reads beside it. "Not held" after
    // a broken connection means the same, unless the writer has released the write side and only reads since.
    const all =
      !this.kind.shared && (value.result !== 'not-held' || forced.some(({ state }) => state === 'held'))
    // The answer to a release in flight says what has become of its hold.
    for (const hold of all ? before : forced) if (hold.state === 'held') hold.lose('forced')
    this.client.queues.freed(this.kind, value.result === 'freed' ? value.notified : 0)
    this.client.unpublishedReleases.released(this.kind, value)
    return true
  }

  async isLocked(): Promise<boolean> {
    this.client.assertNotClosed()
    return (await inspectLock(this.kind, '')).holders.length > 0
  }

  async getHoldCount(): Promise<number> {
    return await countOf(this, undefined)
  }

  async remainTimeToLive(): Promise<number> {
    this.client.assertNotClosed()
    return (await inspectLock(this.kind, '')).timeToLive
  }

  // Not async: a further async function costs a process with many callers some percent of its time.
  [ACQUIRE_FOR](
    caller: Caller,
    options: AcquireArguments,
    entry?: HoldEntry<Hold>,
    bare?: BareLevels<Level>,
  ) {
    const { client, kind } = this
    const request = new AcquireRequest(client, kind, caller, options, entry, bare)
    return caller.thread?.parent ? waitForSiblingBranches(request) : acquire(request)
  }

  [HANDLE_OF](level: Level): Handle {
    return new this.Handle(this.kind, level) as Handle
  }

  [RELEASE_LEVEL](level: Level): Promise<void> {
    return release(this.kind, level)
  }

  async [LEVELS_OF](hold: Hold): Promise<number> {
    const { count } = await inspectLock(this.kind, hold.ownerField)
    if (count === 0 && hold.state === 'held') hold.lose('gone')
    return count
  }
}

async function inspectLock(kind: LockKind, owner: string): Promise<LockState> {
  return (await kind.inspect(owner).answer).value
}
