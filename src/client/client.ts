import calculateSlot from 'cluster-key-slot'
import type { ClientStats, HeldLock } from '../api/client-state'
import { RedissonShutdownError } from '../api/errors'
import { type RedissonOptions, type ResolvedOptions, resolveOptions } from '../api/options'
import type { LeaseMonitor } from '../leases/lease-monitor'
import { OrphanReleaser } from '../leases/orphan-releaser'
import { ExplicitCallers } from '../ownership/caller'
import { EndedThreadWarning } from '../ownership/ended-thread-warning'
import { withoutSecrets } from '../redis/errors'
import type { KnownServer } from '../redis/fencing/server-identity'
import { OutageReporter } from '../redis/outage-reporter'
import type { PublishCommand } from '../redis/pubsub'
import { ScriptExecutor } from '../scripts/executor'
import type { ScriptTransport } from '../scripts/transport'
import { outsideRequests } from '../util/async-context'
import type { Clock } from '../util/clock'
import { withTimeout } from '../util/timeout'
import { Subscriptions } from '../waiting/subscriptions'
import type { WaitQueues } from '../waiting/wait-queues'
import { newClientId } from './client-id'
import type { Connections } from './connections'
import type { Context } from './context'
import { publishLosses, TracedLeases, TracedQueues } from './diagnostics'
import { ClientEvents } from './event-emitter'
import { inProcessServer } from './in-process-server'
import { redisServer } from './redis-server'
import { UnpublishedReleases } from './unpublished-releases'

/** What tests replace. */
export interface ClientInternals {
  readonly clock?: Clock
  readonly newClientId?: () => string
  /** Wraps the way of scripts to the server. */
  readonly transport?: (transport: ScriptTransport) => ScriptTransport
  /**
   * Whether scripts skip ioredis's own making of commands (redis/fast-path); the bench measures without. Default true.
   */
  readonly fastPath?: boolean
  readonly unavailableAfter?: number
  readonly silentAfter?: number
}

/** A renewal may have to wait for the WAIT before it, for that of its unknown script, and for its own. */
const WAITS_A_RENEWAL = 3
/** One slow round trip. */
const GRACE = 1_000
const SILENT_AFTER = 3_000

/** Everything one Redisson client consists of, put together. */
export class Client implements Context {
  readonly clock: Clock
  readonly lockWatchdogTimeout: number
  readonly grace: number
  readonly explicitCallers = new ExplicitCallers()
  readonly endedThreads: EndedThreadWarning
  readonly leases: LeaseMonitor
  readonly queues: WaitQueues
  readonly orphans: OrphanReleaser
  readonly unpublishedReleases: UnpublishedReleases
  readonly events = new ClientEvents()
  readonly isCluster: boolean
  readonly server: KnownServer
  readonly publishCommand: PublishCommand
  readonly scripts: ScriptExecutor
  private state: 'open' | 'closing' | 'closed' = 'open'

  /** Connects; rejects with RedisUnavailableError when nothing answers within the connect timeout. */
  static async connect(given: RedissonOptions, internals: ClientInternals = {}): Promise<Client> {
    const options = resolveOptions(given)
    const clientId = (internals.newClientId ?? newClientId)()
    const server = inProcessServer(options.redis) ?? redisServer(options, clientId, internals.fastPath)
    const clock = internals.clock ?? server.clock
    // Sockets and timers made here must not belong to whichever request or thread happens to create the client.
    return await outsideRequests(async () => {
      let client: Client | undefined
      const report = (error: Error) => client?.events.error(error)
      const outages = new OutageReporter(clock, report)
      const refusals = new OutageReporter(clock, report)
      const connections = await server.connect({
        clock,
        outages,
        error: report,
        channels: {
          message: (channel, text) => client?.subscriptions.message(channel, text),
          confirmed: (channel) => {
            refusals.answered()
            client?.subscriptions.confirmed(channel)
          },
          broken: (channel) => client?.subscriptions.wake(channel),
          error: (error) => refusals.met(withoutSecrets(error, server.secrets)),
        },
        newServer: () => client?.leases.renewAll(),
        keysChanged: (keys) => client?.keysChanged(keys),
        replicasCutOff: () => client?.replicasCutOff(),
      })
      client = new Client(clientId, options, connections, outages, { ...internals, clock })
      return client
    })
  }

  private readonly subscriptions: Subscriptions

  private constructor(
    readonly clientId: string,
    private readonly options: ResolvedOptions,
    private readonly connections: Connections,
    outages: OutageReporter,
    internals: ClientInternals & { readonly clock: Clock },
  ) {
    const { clock } = internals
    const { hasReplicas, publishCommand, transport } = connections
    const unavailableAfter = internals.unavailableAfter ?? options.unavailableAfter
    this.clock = clock
    this.publishCommand = publishCommand
    this.endedThreads = new EndedThreadWarning(this.clientId)
    this.lockWatchdogTimeout = options.lockWatchdogTimeout
    this.grace = GRACE + (hasReplicas ? options.slavesSyncTimeout : 0)
    this.isCluster = connections.isCluster
    this.server = connections.identity
    this.scripts = new ScriptExecutor({
      transport: internals.transport?.(transport) ?? transport,
      clock,
      hasReplicas,
      outages,
      refusals: new OutageReporter(clock, (error) => this.events.error(error)),
      secrets: connections.secrets,
      unavailableAfter,
      silentAfter: internals.silentAfter ?? SILENT_AFTER,
    })
    this.subscriptions = new Subscriptions(connections.source, clock)
    const leaseOptions = {
      clock,
      scripts: this.scripts,
      lockWatchdogTimeout: options.lockWatchdogTimeout,
      lockWatchdogBatchSize: options.lockWatchdogBatchSize,
      acknowledged: this.renewalsAcknowledged,
      groupOf: this.isCluster ? calculateSlot : () => 0,
    }
    this.leases = new TracedLeases(clientId, leaseOptions, (leases) => connections.falselyNotified(leases))
    publishLosses(clientId, this.events)
    this.queues = new TracedQueues({
      clock,
      clientId: this.clientId,
      grace: this.grace,
      scripts: this.scripts,
      subscriptions: this.subscriptions,
      leases: this.leases.live,
      unavailableAfter,
      longestSleep: options.lockWatchdogTimeout,
      audienceIsKnown: !this.isCluster || publishCommand === 'spublish',
    })
    this.orphans = new OrphanReleaser(clock)
    this.unpublishedReleases = new UnpublishedReleases(clock, publishCommand, (error) =>
      this.events.error(error),
    )
  }

  /** The key of a lock of this name. */
  keyOf(name: string): string {
    return this.options.mapName(name)
  }

  assertOpen(): void {
    if (this.state !== 'open') throw this.shutdownError()
  }

  assertNotClosed(): void {
    if (this.state === 'closed') throw this.shutdownError()
  }

  /** Holds of these keys may be gone; undefined: any hold. Those of readers change with every other reader. */
  private keysChanged(keys: readonly string[] | undefined) {
    if (!keys) return this.leases.renewAll()
    for (const key of keys)
      for (const lease of this.leases.live.on(key))
        if (lease.renewal.tracksKeys) this.leases.revalidate(lease)
  }

  /** @internal For tests: the connection on which scripts run. */
  get commands(): object | undefined {
    return this.connections.opened?.commands
  }

  /** @internal For tests: the connections on which acquisitions wait for replicas. */
  get acknowledged(): object | undefined {
    return this.connections.opened?.acknowledged
  }

  /** @internal Whether scripts take the fast path. */
  get usesFastPath(): boolean {
    return this.connections.usesFastPath
  }

  /** What is held; see Redisson.holds. */
  holds(): HeldLock[] {
    return [...this.leases.live.all()].map((lease) => ({
      kind: lease.kind,
      lockName: lease.lockName,
      owner: lease.owner,
      heldFor: Math.round(this.clock.elapsedSince(lease.acquired)),
      remaining: Math.round(lease.remaining()),
      isRenewed: lease.needsWatchdog,
    }))
  }

  /** How much is in hand; see Redisson.stats. */
  publicStats(): ClientStats {
    return {
      held: [...this.leases.live.all()].length,
      waiting: this.queues.waiting,
      channels: this.subscriptions.stats().channels,
      inFlight: this.scripts.stats().pending,
      releasing: this.orphans.size,
    }
  }

  /** @internal What the client keeps at this moment, by what it is; for tests of leaks. */
  stats(): Record<string, number> {
    return {
      ...this.queues.stats(),
      ...this.leases.stats(),
      ...this.explicitCallers.stats(),
      orphans: this.orphans.size,
      ...this.subscriptions.stats(),
      ...this.scripts.stats(),
    }
  }

  /** Lets go of everything; see Redisson.shutdown. */
  async shutdown(timeout: number): Promise<void> {
    this.state = 'closing'
    const error = this.shutdownError()
    this.queues.close(error)
    for (const lease of this.leases.live.all()) lease.refuseEntry()
    await this.untilLetGo(timeout)
    this.state = 'closed'
    this.leases.stop()
    for (const lease of this.leases.live.all()) lease.abortSignal(error)
    this.scripts.close(error)
    this.subscriptions.close()
    this.connections.close()
  }

  /** Resolves when nothing is held and nothing is under way, at the latest after `timeout` ms. */
  private async untilLetGo(timeout: number): Promise<void> {
    await withTimeout(this.letGo(), timeout, this.clock, () => {})
  }

  private replicasCutOff() {
    if (this.renewalsAcknowledged && this.state !== 'closed') this.leases.countFromReplicas()
  }

  /** Not where the lease is too short to be renewed behind replicas that do not answer. */
  private get renewalsAcknowledged(): boolean {
    const { lockWatchdogTimeout, slavesSyncTimeout, checkLockSyncedSlaves } = this.options
    return (
      this.connections.hasReplicas &&
      checkLockSyncedSlaves &&
      lockWatchdogTimeout / 3 > WAITS_A_RENEWAL * slavesSyncTimeout
    )
  }

  private async letGo(): Promise<void> {
    // An acquisition granted in this very tick is about to become a hold, or to be released as an orphan.
    await new Promise<void>((resolve) => this.clock.after(0, resolve))
    await this.leases.live.empty()
    // The last hold leaves the registry when its release is sent: only now is that to be waited for.
    await this.scripts.idle()
    await this.orphans.settled()
  }

  private shutdownError(): RedissonShutdownError {
    return new RedissonShutdownError(`The Redisson client ${this.clientId} is shut down`)
  }
}
