import { ownerField, readClockParts } from '../names/redis-names'
import type { Caller } from '../ownership/callers'
import type { Hold } from '../ownership/hold'
import type { Renewal } from '../renewal/renewal'
import { script } from '../scripts/script'
import type { ScriptCall, ScriptRunner } from '../scripts/script-runner'
import type { LockProtocol, LockState } from './lock-protocol'
import { type ReadWriteLockClient, ReadWriteSide } from './read-write-side'

const ACQUIRE = script('read-lock/acquire')
const REENTER = script('read-lock/reenter')
const RELEASE = script('read-lock/release')
const FORCE_RELEASE = script('read-lock/force-release')
const RENEW = script('read-lock/renew')
const INSPECT = script('read-lock/inspect')

/** Renews read holds with the clocks of their levels, many in one call. */
export class ReadLockRenewal implements Renewal {
  constructor(
    private readonly runner: ScriptRunner,
    /** Whether to ask that a replica has it. */
    private readonly acknowledged: boolean,
  ) {}

  renew(holds: readonly Hold[], lease: number): ScriptCall {
    const args: (string | number)[] = [lease]
    for (const { key, ownerField } of holds) {
      const { before, behind } = readClockParts(key)
      args.push(ownerField, before, behind)
    }
    return this.runner.run(
      RENEW,
      holds.map((hold) => hold.key),
      args,
      this.acknowledged,
    )
  }
}

/** The read side: many holds at a time, each level with a clock of its own. */
export class ReadLock extends ReadWriteSide implements LockProtocol {
  readonly shared = true
  readonly leasesRunOn = true
  readonly renewal: Renewal

  constructor(name: string, key: string, client: ReadWriteLockClient) {
    super(name, key, client, 'read')
    this.renewal = client.readRenewal
  }

  ownerField(threadId: number): string {
    return ownerField(this.client.clientId, threadId)
  }

  /** A writer may read as well. */
  beside(caller: Caller): string | undefined {
    return this.heldBeside(caller)?.ownerField
  }

  acquire(owner: string, lease: number, beside: string | undefined): ScriptCall {
    const keys = [this.key, this.clock(owner, 1)]
    return this.client.runner.run(ACQUIRE, keys, [owner, lease, beside ?? ''], true)
  }

  reenter(owner: string, lease: number, count: number, releasedEnd: number): ScriptCall {
    return this.client.runner.run(
      REENTER,
      [this.key, this.clock(owner, count)],
      [owner, lease, count, releasedEnd],
      true,
    )
  }

  release(owner: string, count: number, lease: number, leaseEnd: number): ScriptCall {
    const { before, behind } = this.clocks
    const { publish } = this.client
    const args = [owner, count, lease, this.channel, publish, leaseEnd, before, behind]
    return this.client.runner.run(RELEASE, [this.key, this.neverThere], args)
  }

  forceRelease(owners: readonly string[]): ScriptCall {
    const { before, behind } = this.clocks
    return this.run(FORCE_RELEASE, [before, behind, this.channel, this.client.publish, ...owners])
  }

  inspect(owner: string): Promise<LockState> {
    return this.inspectBy(INSPECT, owner)
  }

  private clock(owner: string, level: number): string {
    return `${this.clocks.before}${owner}${this.clocks.behind}${level}`
  }
}
