import { IllegalMonitorStateError } from '../api/errors'
import { ownerField } from '../names/redis-names'
import type { Caller } from '../ownership/callers'
import type { Renewal } from '../renewal/renewal'
import { script } from '../scripts/script'
import type { ScriptCall } from '../scripts/script-runner'
import type { LockProtocol, LockState } from './lock-protocol'
import { type ReadWriteLockClient, ReadWriteSide } from './read-write-side'

const ACQUIRE = script('write-lock/acquire')
const REENTER = script('write-lock/reenter')
const RELEASE = script('write-lock/release')
const FORCE_RELEASE = script('write-lock/force-release')
const INSPECT = script('write-lock/inspect')

/** The write side: one hold at a time, and nobody reads but its owner. Renewed as a plain lock is. */
export class WriteLock extends ReadWriteSide implements LockProtocol {
  readonly shared = false
  readonly leasesRunOn = false
  readonly renewal: Renewal

  constructor(name: string, key: string, client: ReadWriteLockClient) {
    super(name, key, client, 'write')
    this.renewal = client.writeRenewal
  }

  ownerField(threadId: number): string {
    return `${ownerField(this.client.clientId, threadId)}:write`
  }

  /** A reader that waits to write waits for itself: it is told so instead. A single try just fails. */
  beside(caller: Caller, willWait: boolean): undefined {
    const reading = willWait ? this.heldBeside(caller) : undefined
    if (reading)
      throw new IllegalMonitorStateError(
        `${caller.description} holds the read side of ${JSON.stringify(this.name)} and wants to write ` +
          `(client ${this.client.clientId}, thread id ${reading.threadId}): it would wait for itself for ever. ` +
          'Release the read lock first and look again at what you read, or take the write lock from the start.',
      )
    return undefined
  }

  acquire(owner: string, lease: number): ScriptCall {
    return this.run(ACQUIRE, [owner, lease], true)
  }

  reenter(owner: string, lease: number, count: number, releasedEnd: number): ScriptCall {
    return this.run(REENTER, [owner, lease, count, releasedEnd], true)
  }

  release(owner: string, count: number, lease: number, leaseEnd: number): ScriptCall {
    const { before, behind } = this.clocks
    const { publish } = this.client
    const args = [owner, count, lease, this.channel, publish, leaseEnd, before, behind]
    return this.client.runner.run(RELEASE, [this.key, this.neverThere], args)
  }

  forceRelease([owner = '']: readonly string[]): ScriptCall {
    const { before, behind } = this.clocks
    return this.run(FORCE_RELEASE, [owner, this.channel, this.client.publish, before, behind])
  }

  inspect(owner: string): Promise<LockState> {
    return this.inspectBy(INSPECT, owner)
  }
}
