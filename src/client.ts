import { randomUUID } from 'node:crypto'
import calculateSlot from 'cluster-key-slot'
import { type LockLostError, RedissonShutdownError } from './api/errors'
import type { RLock } from './api/rlock'
import type { RReadWriteLock } from './api/rread-write-lock'
import { AcknowledgedConnection } from './connection/acknowledged-connection'
import { CommandConnection } from './connection/command-connection'
import { withoutSecrets } from './connection/failures'
import type { KeyTracking } from './connection/key-tracking'
import { choosePublish, openSource, type PublishCommand } from './connection/messages'
import { Outages } from './connection/outages'
import { type RedisTarget, resolveTarget } from './connection/redis-target'
import type { ChannelEvents, ChannelSource } from './connection/subscriber-connection'
import { EventHub } from './event-hub'
import { type ClientContext, loseHold } from './locks/client-context'
import { GivingBack } from './locks/giving-back'
import { PlainLock, PlainLockRenewal, plainLockId } from './locks/plain-lock'
import { ReadLockRenewal } from './locks/read-lock'
import { sideId } from './locks/read-write-side'
import { RedissonLock } from './locks/redisson-lock'
import { RedissonReadWriteLock } from './locks/redisson-read-write-lock'
import { ExplicitCallers } from './ownership/callers'
import type { Hold, LossReason } from './ownership/hold'
import { HoldRegistry } from './ownership/hold-registry'
import { outsideThreads } from './ownership/logical-thread'
import { type RedissonOptions, type ResolvedOptions, resolveOptions } from './redisson-options'
import { LeaseKeeper } from './renewal/lease-keeper'
import { Watchdog } from './renewal/watchdog'
import { type Clock, systemClock } from './runtime/clock'
import { ScriptRunner } from './scripts/script-runner'
import { RedisScriptTransport, type ScriptTransport } from './scripts/script-transport'
import { Subscriptions } from './waiting/subscriptions'
import { WaitingRoom } from './waiting/waiting-room'

/** What tests bend and nobody else needs to. */
export interface ClientInternals {
  readonly clock?: Clock
  readonly newClientId?: () => string
  /** Wraps the way of scripts to the server. */
  readonly transport?: (transport: ScriptTransport) => ScriptTransport
  readonly unavailableAfter?: number
  readonly silentAfter?: number
}

const UNAVAILABLE_AFTER = 10_000
/** A renewal may have to wait for the WAIT before it, for that of its unknown script, and for its own. */
const WAITS_A_RENEWAL = 3
/** One slow round trip. */
const GRACE = 1_000
const SILENT_AFTER = 3_000

/** Everything one Redisson client consists of, put together. */
export class Client implements ClientContext {
  readonly clientId: string
  readonly clock: Clock
  readonly lockWatchdogTimeout: number
  readonly grace: number
  readonly explicitCallers = new ExplicitCallers()
  readonly holds = new HoldRegistry()
  readonly leases: LeaseKeeper
  readonly waiting: WaitingRoom
  readonly givingBack: GivingBack
  readonly events = new EventHub()
  readonly isCluster: boolean
  private readonly runner: ScriptRunner
  private readonly plainRenewal: PlainLockRenewal
  private readonly readRenewal: ReadLockRenewal
  private state: 'open' | 'closing' | 'closed' = 'open'

  /** Connects; rejects with RedisUnavailableError when nothing answers within the connect timeout. */
  static async connect(given: RedissonOptions, internals: ClientInternals = {}): Promise<Client> {
    const options = resolveOptions(given)
    const target = resolveTarget(options.redis)
    const clock = internals.clock ?? systemClock
    // Sockets and timers made here must not belong to whichever logical thread happens to create the client.
    return await outsideThreads(async () => {
      let client: Client | undefined
      const report = (error: Error) => client?.events.error(error)
      const outages = new Outages(clock, report)
      const refusals = new Outages(clock, report)
      const commands = new CommandConnection(target, clock, outages, () => client?.leases.askAboutAll())
      try {
        await commands.connect()
        const publish = await choosePublish(commands.redis, target, options, clock)
        const events: ChannelEvents = {
          message: (channel) => client?.subscriptions.message(channel),
          confirmed: (channel) => {
            refusals.answered()
            client?.subscriptions.wake(channel)
          },
          broken: (channel) => client?.subscriptions.wake(channel),
          error: (error) => refusals.met(withoutSecrets(error, target.secrets)),
        }
        const { source, tracking, ready } = openSource(commands, target, publish, clock, events, (keys) =>
          client?.keysChanged(keys),
        )
        await ready
        client = new Client(options, target, commands, outages, source, tracking, publish, internals)
        return client
      } catch (error) {
        commands.close()
        throw error
      }
    })
  }

  private readonly subscriptions: Subscriptions
  /** Where acquisitions go that a replica must acknowledge; none for a single server, as with Redisson. */
  private readonly acknowledged: AcknowledgedConnection | undefined

  private constructor(
    private readonly options: ResolvedOptions,
    target: RedisTarget,
    private readonly commands: CommandConnection,
    outages: Outages,
    source: ChannelSource,
    tracking: KeyTracking | undefined,
    private readonly publish: PublishCommand,
    internals: ClientInternals,
  ) {
    const clock = internals.clock ?? systemClock
    const unavailableAfter = internals.unavailableAfter ?? UNAVAILABLE_AFTER
    this.clock = clock
    this.acknowledged = target.kind === 'standalone' ? undefined : this.openAcknowledged()
    const transport = new RedisScriptTransport(commands, this.acknowledged, tracking)
    this.clientId = (internals.newClientId ?? randomUUID)()
    this.lockWatchdogTimeout = options.lockWatchdogTimeout
    this.grace = GRACE + (this.acknowledged ? options.slavesSyncTimeout : 0)
    this.isCluster = target.kind === 'cluster'
    this.runner = new ScriptRunner({
      transport: internals.transport?.(transport) ?? transport,
      clock,
      hasReplicas: this.acknowledged !== undefined,
      outages,
      secrets: target.secrets,
      unavailableAfter,
      silentAfter: internals.silentAfter ?? SILENT_AFTER,
    })
    this.plainRenewal = new PlainLockRenewal(this.runner, this.renewalsAcknowledged)
    this.readRenewal = new ReadLockRenewal(this.runner, this.renewalsAcknowledged)
    this.subscriptions = new Subscriptions(source, clock)
    this.waiting = new WaitingRoom({
      clock,
      subscriptions: this.subscriptions,
      holds: this.holds,
      unavailableAfter,
      longestSleep: options.lockWatchdogTimeout,
      audienceIsKnown: !this.isCluster || publish === 'spublish',
    })
    this.givingBack = new GivingBack(clock, () => this.waiting)
    const watchdog = new Watchdog({
      clock,
      lockWatchdogTimeout: options.lockWatchdogTimeout,
      lockWatchdogBatchSize: options.lockWatchdogBatchSize,
      groupOf: this.isCluster ? calculateSlot : () => 0,
      onLost: (hold, reason) => loseHold(this, hold, reason),
      onRenewalFailed: ({ lockName, threadId }, error) =>
        this.events.emit('renewalFailed', { lockName, threadId, error }),
    })
    this.leases = new LeaseKeeper(clock, watchdog, (hold) => loseHold(this, hold, 'lease'))
  }

  /** The key of a lock of this name. */
  keyOf(name: string): string {
    return this.options.mapName(name)
  }

  lock(name: string, key: string): RLock {
    const protocol = new PlainLock(name, key, this.plainRenewal, this.clientId, this.runner, this.publish)
    return new RedissonLock(this, protocol)
  }

  readWriteLock(name: string, key: string): RReadWriteLock {
    return new RedissonReadWriteLock(name, key, this, {
      clientId: this.clientId,
      runner: this.runner,
      publish: this.publish,
      readRenewal: this.readRenewal,
      writeRenewal: this.plainRenewal,
    })
  }

  assertOpen(): void {
    if (this.state !== 'open') throw this.shutdownError()
  }

  assertNotClosed(): void {
    if (this.state === 'closed') throw this.shutdownError()
  }

  isServerAway(): boolean {
    return this.runner.isServerAway
  }

  lockLost(hold: Hold, reason: LossReason, error: LockLostError): void {
    this.events.emit('lockLost', { lockName: hold.lockName, threadId: hold.threadId, reason, error })
  }

  /** Holds of these keys may be gone; undefined: any hold. Those of readers change with every other reader. */
  private keysChanged(keys: readonly string[] | undefined) {
    if (!keys) return this.leases.askAboutAll()
    for (const key of keys)
      for (const lockId of [plainLockId(key), sideId('write', key)])
        for (const hold of this.holds.on(lockId)) this.leases.askAbout(hold)
  }

  /** Lets go of everything; see Redisson.shutdown. */
  async shutdown(timeout: number): Promise<void> {
    this.state = 'closing'
    const error = this.shutdownError()
    this.waiting.close(error)
    await this.untilLetGo(timeout)
    this.state = 'closed'
    this.leases.stop()
    outsideThreads(() => {
      for (const hold of this.holds.all()) hold.abortSignal(error)
    })
    this.runner.close(error)
    this.subscriptions.close()
    this.acknowledged?.close()
    this.commands.close()
  }

  /** Resolves when nothing is held and nothing is under way, at the latest after `timeout` ms. */
  private async untilLetGo(timeout: number): Promise<void> {
    let timer = { cancel() {} }
    const late = new Promise<void>((resolve) => {
      timer = this.clock.after(timeout, resolve)
    })
    await Promise.race([this.letGo(), late])
    timer.cancel()
  }

  private openAcknowledged(): AcknowledgedConnection {
    const options = {
      clock: this.clock,
      slavesSyncTimeout: this.options.slavesSyncTimeout,
      checkLockSyncedSlaves: this.options.checkLockSyncedSlaves,
      onCutOff: () => {
        if (this.renewalsAcknowledged && this.state !== 'closed') this.leases.serverCutOff(this.holds.all())
      },
      onNoWait: (error: Error) => this.events.error(error),
    }
    return new AcknowledgedConnection(this.commands, options, () => this.leases.askAboutAll())
  }

  /** Not where the lease is too short to be renewed behind replicas that do not answer. */
  private get renewalsAcknowledged(): boolean {
    const { lockWatchdogTimeout, slavesSyncTimeout, checkLockSyncedSlaves } = this.options
    return (
      this.acknowledged !== undefined &&
      checkLockSyncedSlaves &&
      lockWatchdogTimeout / 3 > WAITS_A_RENEWAL * slavesSyncTimeout
    )
  }

  private async letGo(): Promise<void> {
    // An acquisition granted in this very turn is about to become a hold, or to be given back.
    await new Promise<void>((resolve) => this.clock.after(0, resolve))
    await this.holds.empty()
    // The last hold leaves the registry when its release is sent: only now is that to be waited for.
    await this.runner.idle()
    await this.givingBack.settled()
  }

  private shutdownError(): RedissonShutdownError {
    return new RedissonShutdownError(`The Redisson client ${this.clientId} is shut down`)
  }
}
