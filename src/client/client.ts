import type { ClientStats, WaitingCaller } from '../api/client-state'
import { acquisitions, isTraced, traceAcquisition } from '../api/diagnostics'
import { RedissonShutdownError } from '../api/errors'
import { type RedissonOptions, type ResolvedOptions, resolveOptions } from '../api/options'
import { LeaseMonitor } from '../leases/lease-monitor'
import { OrphanReleaser } from '../leases/orphan-releaser'
import { RecentReleases } from '../leases/recent-releases'
import { HoldTable } from '../ownership/hold-table'
import { ownersOfClient } from '../ownership/owner-field'
import type { PublishCommand } from '../redis/listen/pubsub'
import { OutageReporter } from '../redis/reports/outage-reporter'
import { ScriptExecutor } from '../scripts/executor'
import { outsideRequests } from '../util/async-context'
import type { Clock } from '../util/clock'
import { withTimeout } from '../util/timeout'
import type { WaitTarget } from '../waiting/admission'
import type { Attempt, BelowHold, ThreadAttempt, WaitResult } from '../waiting/attempt'
import { ClientQueues } from '../waiting/client-queues'
import { Subscriptions } from '../waiting/subscriptions'

import { newClientId } from './client-id'
import type { ClientInternals } from './client-internals'
import { ConnectionReports } from './connection-reports'
import type { Connections, Server } from './connections'
import { ClientEvents } from './event-emitter'
import { Inspection } from './inspection'
import { PermitsOut } from './permits-out'
import { IS_DEVELOPMENT, placeInCode } from './place-in-code'
import { serverOf } from './redis-server'
import { UnpublishedReleases } from './unpublished-releases'

/** A renewal may wait for three WAITs: the one in flight, the one of its NOSCRIPT answer, and its own. */
const WAITS_A_RENEWAL = 3
const SILENT_AFTER = 3_000
/** One slow round trip, in ms. */
const ROUND_TRIP = 1_000
/**
 * How long a shutdown waits for what is in flight, in ms, however short its timeout is. A permit without a
 * lease that is granted meanwhile would stay acquired for ever.
 */
const SETTLED_WITHIN = 1_000

/**
 * One Redisson client: makes its parts and connects them. Locks, semaphores and latches use it and its parts.
 */
export class Client {
  readonly clock: Clock
  /** How the owner fields of its holds begin in Redis: one text, which all of them share. */
  readonly owners: string
  /** The lease of a hold without a `leaseTime`, in ms; the watchdog renews it. */
  readonly lockWatchdogTimeout: number
  /** How long a call still accepts the answer to a try in flight after its wait is over, in ms. */
  readonly grace: number
  /** The holds of callers that the `threadId` option names. */
  readonly explicitHolds: HoldTable = new HoldTable()
  readonly leases: LeaseMonitor
  readonly queues: ClientQueues
  readonly events: ClientEvents
  readonly orphans: OrphanReleaser
  readonly permitsOut: PermitsOut = new PermitsOut()
  /** Absent where no server has replicas. */
  readonly recentReleases: RecentReleases | undefined
  /** How waiters are notified: PUBLISH, or SPUBLISH in a cluster with sharded pub/sub. */
  readonly publishCommand: PublishCommand
  readonly scripts: ScriptExecutor
  private readonly closer = new AbortController()
  /** Aborts with RedissonShutdownError when shutdown() is called. */
  readonly closing: AbortSignal = this.closer.signal
  /** shutdown() has finished. */
  isClosed = false

  /** Connects; rejects with RedisUnavailableError when nothing answers within the connect timeout. */
  static async connect(given: RedissonOptions, internals: ClientInternals): Promise<Client> {
    const options = resolveOptions(given)
    const clientId = (internals.newClientId ?? newClientId)()
    const server = serverOf(options, clientId)
    const { clock = server.clock } = internals
    const { secrets } = server
    // Sockets and timers that are made here must not belong to the request or the thread that creates the
    // client.
    return await outsideRequests(async () => {
      const events = new ClientEvents({ clientId, address: server.address })
      const reports = new ConnectionReports(clock, events, secrets, options.inspectable)
      const connections = await server.connect(reports)
      const client = new Client(clientId, options, connections, reports, { ...internals, clock, secrets })
      reports.parts = client
      return client
    })
  }

  private readonly inspection: Inspection
  readonly subscriptions: Subscriptions

  private constructor(
    readonly clientId: string,
    readonly options: ResolvedOptions,
    readonly connections: Connections,
    private readonly reports: ConnectionReports,
    internals: ClientInternals & Pick<Server, 'clock' | 'secrets'>,
  ) {
    const { clock } = internals
    const { isCluster, publishCommand, replication, transport } = connections
    const { events, outages } = reports
    const { origin } = events
    const clientAndServer = `${clientId}, server ${origin.address}`
    this.events = events
    this.clock = clock
    this.owners = ownersOfClient(clientId)
    this.publishCommand = publishCommand
    this.lockWatchdogTimeout = options.lockWatchdogTimeout
    this.grace = ROUND_TRIP + (replication ? options.slavesSyncTimeout : 0)
    this.scripts = new ScriptExecutor({
      clientAndServer,
      transport: internals.transport?.(transport) ?? transport,
      clock,
      outages,
      refusals: new OutageReporter(clock, { error: this.events.error }),
      secrets: internals.secrets,
      logsInAgain: connections.logsInAgain === true,
      unavailableAfter: options.unavailableAfter,
      silentAfter: internals.silentAfter ?? SILENT_AFTER,
    })
    this.subscriptions = new Subscriptions(connections.source, clock)
    const { scripts, renewalsAcknowledged: acknowledged } = this
    this.leases = new LeaseMonitor({ ...options, origin, clock, scripts, acknowledged, isCluster })
    this.queues = new ClientQueues({
      clock,
      clientAndServer,
      grace: this.grace,
      scripts,
      subscriptions: this.subscriptions,
      leases: this.leases.live,
      unavailableAfter: options.unavailableAfter,
      longestSleep: options.lockWatchdogTimeout,
      audienceIsKnown: !isCluster || publishCommand === 'spublish',
      messages: new UnpublishedReleases(clock, publishCommand, events.error),
    })
    this.inspection = new Inspection(clientId, clock, this.leases, this.queues, options.label)
    this.orphans = new OrphanReleaser(clock)
    this.recentReleases = replication && new RecentReleases(clock, this.orphans, replication)
  }

  /** Throws RedissonShutdownError once shutdown() has been called. */
  assertOpen(): void {
    if (this.closing.aborted) throw this.shutdownError()
  }

  /** Throws also if the caller has aborted. */
  assertWanted(signal: AbortSignal | undefined): void {
    this.assertOpen()
    signal?.throwIfAborted()
  }

  /** Throws RedissonShutdownError once shutdown() has finished. */
  assertNotClosed(): void {
    if (this.isClosed) throw this.shutdownError()
  }

  /**
   * Waits for what the attempt asks for; undefined: the wait was over. All but a re-entry is acquired here.
   */
  acquire<Grant>(target: WaitTarget, attempt: ThreadAttempt<Grant>): Promise<WaitResult<Grant> | BelowHold>
  acquire<Grant>(target: WaitTarget, attempt: Attempt<Grant>): Promise<WaitResult<Grant>>
  acquire<Grant>(target: WaitTarget, attempt: Attempt<Grant>): Promise<WaitResult<Grant> | BelowHold> {
    this.assertWanted(attempt.signal)
    if (IS_DEVELOPMENT) attempt.at = placeInCode()
    const { hasSubscribers = isTraced(acquisitions) } = acquisitions
    if (!hasSubscribers) return this.queues.acquire(target, attempt)
    const acquire = async () => {
      // A subscriber may have aborted it, or shut the client down, just now.
      this.assertWanted(attempt.signal)
      const reply = await this.queues.acquire(target, attempt)
      if (typeof reply === 'object') attempt.assertGranted?.(reply.value.grant)
      return reply
    }
    return traceAcquisition(acquire, target, attempt, this.events.origin, this.clock)
  }

  waiters(): WaitingCaller[] {
    return Array.from(this.queues.waiting(), ({ target: { subject, key }, waiter }) => {
      const waitingFor = Math.round(this.clock.elapsedSince(waiter.joined))
      const isLimited = waiter.attempt.waitTime < Number.POSITIVE_INFINITY
      return { subject, key, waitingFor, remaining: isLimited ? Math.round(waiter.remainingWait) : undefined }
    })
  }

  get isConnected(): boolean {
    return !this.isClosed && this.connections.transport.state === 'ready'
  }

  async ping(timeout: number): Promise<void> {
    this.assertNotClosed()
    if (this.connections.ping) await this.connections.ping(timeout)
    else if (!this.isConnected) throw this.events.ofServer(new Error('Connection is closed'))
  }

  publicStats(): ClientStats {
    return {
      held: [...this.leases.live.all()].length,
      waiting: [...this.queues.waiting()].length,
      channels: this.subscriptions.channels.size,
      inFlight: this.scripts.inFlight,
      releasing: this.orphans.size,
    }
  }

  async shutdown(timeout: number): Promise<void> {
    const error = this.shutdownError()
    this.closer.abort(error)
    this.queues.close(error)
    for (const lease of this.leases.live.all()) lease.refuseEntry()
    await Promise.all([
      withTimeout(this.letGo(), timeout, this.clock, () => {}),
      withTimeout(this.settled(), SETTLED_WITHIN, this.clock, () => {}),
    ])
    this.isClosed = true
    this.reports.outages.close()
    this.leases.stop()
    this.recentReleases?.close()
    for (const lease of this.leases.live.all()) lease.shutDown(error)
    this.scripts.close((mayHaveBeenApplied) => this.shutdownError(mayHaveBeenApplied))
    this.subscriptions.close()
    this.connections.close()
  }

  /** A server may go on from now on that lacks what the last one had. */
  newServer(): void {
    this.leases.renewAll()
    // What they read on another server says nothing, and messages of this one may have come before.
    this.queues.wakeAll()
  }

  answerInspector(request: string) {
    return this.inspection.answer(request)
  }

  replicasCutOff(): void {
    if (this.renewalsAcknowledged && !this.isClosed) this.leases.failedOver()
  }

  /** False where the lease is too short: renewals that wait for silent replicas would come too late. */
  private get renewalsAcknowledged(): boolean {
    const { lockWatchdogTimeout, slavesSyncTimeout, checkLockSyncedSlaves } = this.options
    return (
      this.connections.replication !== undefined &&
      checkLockSyncedSlaves &&
      lockWatchdogTimeout / 3 > WAITS_A_RENEWAL * slavesSyncTimeout
    )
  }

  /** Resolves when nothing is held, no permit is out, and no command is in flight. */
  private async letGo(): Promise<void> {
    // An acquisition that was granted in this tick is not a hold yet. It becomes one, or is released as an
    // orphan.
    await new Promise<void>((resolve) => this.clock.after(0, resolve))
    await this.leases.live.empty()
    await this.permitsOut.none()
    // The last hold leaves the registry when its release is sent, so the answer to that release is still
    // open.
    await this.settled()
  }

  /** Resolves when no command is in flight, and nothing is acquired that no caller has. */
  private async settled(): Promise<void> {
    await new Promise<void>((resolve) => this.clock.after(0, resolve))
    do {
      await this.scripts.idle()
      await this.orphans.settled()
    } while (!this.scripts.isIdle)
  }

  private shutdownError(mayHaveBeenApplied = false): RedissonShutdownError {
    const effect = mayHaveBeenApplied ? 'The call was in flight and may have been applied. ' : ''
    return new RedissonShutdownError(
      `The Redisson client ${this.clientId} is shut down. ${effect}Shut it down after all ` +
        'that uses it, or create another client with Redisson.create().',
    )
  }
}
