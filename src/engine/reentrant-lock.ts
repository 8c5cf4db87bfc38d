import { createHash } from 'node:crypto'
import { inspect } from 'node:util'
import type { AcquireArguments } from '../api/arguments'
import { WrongTypeError } from '../api/errors'
import type { RLock } from '../api/rlock'
import type { Client } from '../client/client'
import { MEMBER, type MemberIdentity } from '../client/member-identity'
import type { BareLevels } from '../ownership/bare-levels'
import type { HoldEntry } from '../ownership/caller'
import { quote } from '../util/quote'
import { AcquireRequest, type HandleClass } from './acquire'
import { AcquiredLockHold } from './acquired-lock-hold'
import type { Caller, Hold, Level } from './hold'
import { ACQUIRE_FOR, COUNT_OF, LEVELS_OF, RELEASE_LEVEL } from './lock-internals'
import type { LockScripts, LockState } from './lock-scripts'
import { OwnedLock } from './owned-lock'
import { acquire } from './reenter'
import { release } from './release'
import { waitForSiblingBranches } from './wait-for-sibling-branches'

/** What the client reads in place of bytes that are no UTF-8. */
const NO_TEXT = '\uFFFD'

/** The methods of RLock over any kind of lock; the interface documents them. `Handle` is its class of LockHolds. */
export class ReentrantLock<Handle extends AcquiredLockHold = AcquiredLockHold>
  extends OwnedLock<Hold, Handle>
  implements RLock
{
  constructor(
    context: Client,
    protected readonly scripts: LockScripts,
    private readonly Handle: HandleClass<Handle | AcquiredLockHold> = AcquiredLockHold,
  ) {
    super(context, scripts)
  }

  getName(): string {
    return this.scripts.name
  }

  /** The identity of this lock for a multi lock of which it is a member. */
  get [MEMBER](): MemberIdentity {
    const { context, scripts } = this
    const { name, key, objectId } = scripts
    const mustYield = () => context.queues.mustYield(scripts)
    return { name, key, objectId, client: context, server: context.connections.identity, mustYield }
  }

  // A log must not show the client inside, which has credentials.
  [inspect.custom](): string {
    const { name, shownAs = 'RLock' } = this.scripts
    return `${shownAs}(${quote(name)})`
  }

  toJSON(): object {
    return { name: this.getName() }
  }

  async forceUnlock(): Promise<boolean> {
    this.context.assertOpen()
    const { holders } = await inspectLock(this.scripts, '')
    if (holders.length === 0) return false
    const before = [...this.context.leases.live.on(this.scripts.key)].filter(({ objectId }) =>
      this.scripts.relatedIds.includes(objectId),
    )
    this.context.queues.releasing(this.scripts)
    const { value, connectionBroke } = await this.scripts.forceRelease(holders).answer
    // The holders have left by themselves, and others may have come. On a hot lock this may be so each time.
    if (value.result === 'not-held' && !connectionBroke) {
      if (!holders.some((holder) => holder.includes(NO_TEXT))) return false
      throw new WrongTypeError(
        `The key ${quote(this.scripts.key)} has a field that is no text, so it is no lock (client ` +
          `${this.context.clientId}). Use another name. If nothing needs the key, delete it.`,
      )
    }
    const seen = (owner: string) =>
      this.scripts.ownerIsSecret ? createHash('sha1').update(owner).digest('hex') : owner
    const forced = before.filter(({ ownerField }) => holders.includes(seen(ownerField)))
    // A forced release of a writer also ends its reads, and no other owner reads beside it. "Not held" after a broken
    // connection means the same, unless the writer has released the write side and only reads since.
    const all =
      !this.scripts.shared && (value.result !== 'not-held' || forced.some(({ state }) => state === 'held'))
    // The answer to a release in flight says what has become of its hold.
    for (const hold of all ? before : forced) if (hold.state === 'held') hold.lose('forced')
    this.context.queues.freed(this.scripts, value.result === 'freed' ? value.notified : 0)
    this.context.unpublishedReleases.released(this.scripts, value)
    return true
  }

  async isLocked(): Promise<boolean> {
    this.context.assertNotClosed()
    return (await inspectLock(this.scripts, '')).holders.length > 0
  }

  async getHoldCount(): Promise<number> {
    return await this[COUNT_OF](undefined)
  }

  async remainTimeToLive(): Promise<number> {
    this.context.assertNotClosed()
    return (await inspectLock(this.scripts, '')).timeToLive
  }

  // Not async: a further async function costs a process with many callers some percent of its time.
  [ACQUIRE_FOR](
    caller: Caller,
    options: AcquireArguments,
    entry?: HoldEntry<Hold>,
    bare?: BareLevels<Level>,
  ) {
    const { context, scripts } = this
    const request = new AcquireRequest(context, scripts, this.Handle, caller, options, entry, bare)
    const acquiring = caller.thread?.parent ? waitForSiblingBranches(request) : acquire(request)
    return acquiring as Promise<Handle | undefined>
  }

  protected [RELEASE_LEVEL](level: Level): Promise<void> {
    return release(this.scripts, level)
  }

  protected async [LEVELS_OF](hold: Hold): Promise<number> {
    const { count } = await inspectLock(this.scripts, hold.ownerField)
    if (count === 0 && hold.state === 'held') hold.lose('gone')
    return count
  }
}

async function inspectLock(scripts: LockScripts, owner: string): Promise<LockState> {
  return (await scripts.inspect(owner).answer).value
}
