import { inspect } from 'node:util'
import type { AcquireArguments } from '../api/arguments'
import type { Client } from '../client/client'
import { MEMBER, type MemberIdentity } from '../client/member-identity'
import { ACQUIRE_FOR, HANDLE_OF, RELEASE_LEVEL } from '../engine/lock-internals'
import { OwnedLock } from '../engine/owned-lock'
import type { Acquirer } from '../ownership/caller'
import { processState } from '../ownership/process-state'
import { inGlobalOrder } from './global-order'
import type { GrantedMembers } from './granted-members'
import { leavesOf, type Member, type MemberGroup } from './member'
import { cut } from './member-states'
import { MembersHandle } from './members-handle'
import { MembersHold, MembersLevel } from './members-hold'

/** Acquires the members of a group, or none. Undefined: the wait was over. */
type AcquireMembers = (
  group: MemberGroup,
  options: AcquireArguments & { readonly waitTime: number },
) => Promise<GrantedMembers | undefined>

/** What a multi lock and a RedLock share; the interfaces document their calls. */
export abstract class MembersLock extends OwnedLock<MembersLevel, MembersHandle> {
  readonly group: MemberGroup

  constructor(
    client: Client,
    given: readonly Member[],
    kind: string,
    needed: number,
    private readonly acquireMembers: AcquireMembers,
  ) {
    const name = `${kind}(${given.map((member) => cut(member.name)).join(', ')})`
    const members = inGlobalOrder(given)
    const objectId = `${kind} ${JSON.stringify(members.map(({ id }) => id))}`
    super(client, { name, objectId, key: objectId })
    this.group = { name, client, members, needed, spare: members.length - needed }
  }

  /** For a multi lock or a RedLock of which it is a member. */
  get [MEMBER](): MemberIdentity {
    const { name, client, members } = this.group
    return {
      name,
      key: members.map(({ key }) => key).join('\n'),
      objectId: this.names.objectId,
      client,
      server: undefined,
      leaves: members.flatMap(leavesOf),
      mustYield: () => members.some((member) => member.mustYield?.()),
    }
  }

  // A log must not show the clients inside, which have credentials.
  [inspect.custom](): string {
    return this.group.name
  }

  toJSON(): object {
    return { locks: this.group.members.map(({ name }) => name) }
  }

  async [ACQUIRE_FOR]({ caller, entry, bare }: Acquirer<MembersLevel>, options: AcquireArguments) {
    this.client.assertOpen()
    options.signal?.throwIfAborted()
    const { thread } = caller
    const { leaseTime, waitTime = this.client.options.waitTime } = options
    const { objectId } = this.names
    const assertNotLost = () => {
      // Another caller may have noticed the loss of a level of this one.
      const loss = caller.holdOf(objectId)?.checkLoss() ?? entry?.bare.loss
      if (loss) throw loss
    }
    assertNotLost()
    // The members belong to the same caller, so that the function of `withLock` re-enters them.
    const collect = () => this.acquireMembers(this.group, { ...options, waitTime })
    const members = await (thread ? processState.threads.run(thread, collect) : collect())
    if (!members) return undefined
    try {
      // The members may have told of a loss just now. That ends the hold of before.
      assertNotLost()
    } catch (error) {
      void members.release()
      throw error
    }
    const hold = caller.holdOf(objectId) ?? new MembersHold(objectId, entry)
    if (hold.entry) hold.entry.hold = hold
    const level = new MembersLevel(hold, members, leaseTime, thread, bare)
    // Its end must be noticed although no caller asks.
    if (leaseTime !== undefined && (entry || bare)) level.watch()
    return level
  }

  [HANDLE_OF](level: MembersLevel): MembersHandle {
    return new MembersHandle(this, level)
  }

  async [RELEASE_LEVEL](level: MembersLevel): Promise<void> {
    await level.release()
  }
}
