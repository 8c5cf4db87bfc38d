import type { LeaseMonitor } from '../leases/lease-monitor'
import type { OrphanReleaser } from '../leases/orphan-releaser'
import type { HoldTable } from '../ownership/caller'
import type { PublishCommand } from '../redis/pubsub'
import type { ScriptExecutor } from '../scripts/executor'
import type { Clock } from '../util/clock'
import type { WaitQueues } from '../waiting/wait-queues'
import type { Connections } from './connections'
import type { ClientEvents } from './event-emitter'
import type { UnpublishedReleases } from './unpublished-releases'

/** The part of the client that a primitive may use. */
export interface Context {
  readonly clientId: string
  readonly clock: Clock
  readonly scripts: ScriptExecutor
  readonly queues: WaitQueues
  readonly leases: LeaseMonitor
  readonly orphans: OrphanReleaser
  readonly events: ClientEvents
  /** The holds of callers that the `threadId` option names. */
  readonly explicitHolds: HoldTable
  readonly unpublishedReleases: UnpublishedReleases
  /** How waiters are notified: PUBLISH, or SPUBLISH in a cluster with sharded pub/sub. */
  readonly publishCommand: PublishCommand
  /** The lease of a hold without a `leaseTime`, in ms; the watchdog renews it. */
  readonly lockWatchdogTimeout: number
  /** How long a call waits at most that gives no `waitTime`, in ms; undefined: without limit. */
  readonly waitTime: number | undefined
  /** How long a call still accepts the answer to a try in flight after its wait is over, in ms. */
  readonly grace: number
  /** With `askToLook` the client that held a key which was released by force looks at once, and not at its next renewal. */
  readonly connections: Pick<Connections, 'askToLook' | 'identity' | 'isCluster'>
  /** Takes what has something without an owner, and releases it at its end: shutdown() waits for it as for a hold. */
  untilReleased<T>(section: Promise<T>): Promise<T>
  /** shutdown() has finished. */
  readonly isClosed: boolean
  /** Aborts with RedissonShutdownError when shutdown() is called. */
  readonly closing: AbortSignal
  /** Throws RedissonShutdownError once shutdown() has been called. */
  assertOpen(): void
  /** Throws RedissonShutdownError once shutdown() has finished. */
  assertNotClosed(): void
}
