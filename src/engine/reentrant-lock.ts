import { inspect } from 'node:util'
import type { AcquireArguments } from '../api/arguments'
import type { Client } from '../client/client'
import { MEMBER, type MemberIdentity } from '../client/member-identity'
import type { Acquirer } from '../ownership/caller'
import { quote } from '../util/quote'
import { Acquisition, acquire } from './acquire'
import { enter } from './enter'
import { forceUnlock, inspectLock } from './force-unlock'
import type { Level } from './hold'
import { LockHandle } from './lock-handle'
import { ACQUIRE_FOR, HANDLE_OF, RELEASE_LEVEL } from './lock-internals'
import type { LockKind } from './lock-kind'
import { countOf, OwnedLock } from './owned-lock'
import { release } from './release'
import type { RLock } from './rlock'

/**
 * The methods of RLock over any kind of lock; the interface documents them. `Handle` is its class of
 * LockHolds.
 */
export class ReentrantLock<Handle extends LockHandle = LockHandle>
  extends OwnedLock<Level, Handle>
  implements RLock
{
  constructor(
    client: Client,
    protected readonly kind: LockKind,
    private readonly Handle: new (lock: ReentrantLock, level: Level) => Handle | LockHandle = LockHandle,
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
    return await forceUnlock(this.client, this.kind)
  }

  async isLocked(): Promise<boolean> {
    this.client.assertNotClosed()
    return (await inspectLock(this.kind)).holders.length > 0
  }

  async getHoldCount(): Promise<number> {
    return await countOf(this, undefined)
  }

  async remainTimeToLive(): Promise<number> {
    this.client.assertNotClosed()
    return (await inspectLock(this.kind)).timeToLive
  }

  // Not async: a further async function costs a process with many callers some percent of its time.
  [ACQUIRE_FOR](acquirer: Acquirer<Level>, options: AcquireArguments) {
    const acquisition = new Acquisition(this.client, this.kind, acquirer, options)
    const { caller, entry } = acquirer
    if (caller.thread?.parent || entry?.hold) return enter(acquisition)
    // Without an ancestor, no other call acquires the lock for this one.
    return acquire(acquisition) as Promise<Level | undefined>
  }

  [HANDLE_OF](level: Level): Handle {
    return new this.Handle(this, level) as Handle
  }

  [RELEASE_LEVEL](level: Level): Promise<void> {
    return release(this.kind, level)
  }
}
