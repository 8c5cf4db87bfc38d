import type { PublishCommand } from '../connection/messages'
import { lockChannel, ownerField } from '../names/redis-names'
import type { Hold } from '../ownership/hold'
import type { Renewal } from '../renewal/renewal'
import { script } from '../scripts/script'
import type { ScriptCall, ScriptRunner } from '../scripts/script-runner'
import type { LockProtocol, LockState } from './lock-protocol'

const ACQUIRE = script('lock/acquire')
const REENTER = script('lock/reenter')
const RELEASE = script('lock/release')
const HAND_OVER = script('lock/hand-over')
const FORCE_RELEASE = script('lock/force-release')
const RENEW = script('lock/renew', { watchesKeys: true })
const INSPECT = script('lock/inspect')

/** Renews plain locks, many in one call. */
export class PlainLockRenewal implements Renewal {
  constructor(
    private readonly runner: ScriptRunner,
    /** Whether to ask that a replica has it. */
    private readonly acknowledged: boolean,
  ) {}

  renew(holds: readonly Hold[], lease: number): ScriptCall {
    return this.runner.run(
      RENEW,
      holds.map((hold) => hold.key),
      [lease, ...holds.map((hold) => hold.ownerField)],
      this.acknowledged,
    )
  }
}

export function plainLockId(key: string): string {
  return `lock ${key}`
}

/** Java's RLock in Redis: a hash of one field, the owner, whose value is the hold count. */
export class PlainLock implements LockProtocol {
  readonly lockId: string
  readonly channel: string
  readonly lockIds: readonly string[]
  readonly shared = false
  readonly leasesRunOn = false
  private readonly keys: readonly string[]

  constructor(
    readonly name: string,
    readonly key: string,
    readonly renewal: Renewal,
    private readonly clientId: string,
    private readonly runner: ScriptRunner,
    private readonly publish: PublishCommand,
  ) {
    this.lockId = plainLockId(key)
    this.lockIds = [this.lockId]
    this.channel = lockChannel(key)
    this.keys = [key]
  }

  ownerField(threadId: number): string {
    return ownerField(this.clientId, threadId)
  }

  acquire(owner: string, lease: number): ScriptCall {
    return this.runner.run(ACQUIRE, this.keys, [owner, lease], true)
  }

  reenter(owner: string, lease: number, count: number, releasedEnd: number): ScriptCall {
    return this.runner.run(REENTER, this.keys, [owner, lease, count, releasedEnd], true)
  }

  release(owner: string, count: number, lease: number, leaseEnd: number): ScriptCall {
    return this.runner.run(RELEASE, this.keys, [owner, count, lease, this.channel, this.publish, leaseEnd])
  }

  handOver(giver: string, taker: string, lease: number): ScriptCall {
    return this.runner.run(HAND_OVER, this.keys, [giver, taker, lease], true)
  }

  forceRelease([owner = '']: readonly string[]): ScriptCall {
    return this.runner.run(FORCE_RELEASE, this.keys, [owner, this.channel, this.publish])
  }

  async inspect(owner: string): Promise<LockState> {
    const { value } = await this.runner.run(INSPECT, this.keys, [owner]).answer
    const [timeToLive, count, ...holders] = value as [number, number, ...string[]]
    return { timeToLive, count, holders }
  }
}
