import type { Redis } from 'ioredis'
import type { ResolvedOptions } from '../../api/options'
import type { Moment } from '../../util/clock'
import { pingOrDisconnect } from '../connect/health-check'
import { reconnectUnless } from '../connect/reconnect'
import { NOT_SENT } from '../reply/errors'
import type { ConnectedClient } from '../reports/connected-client'
import type { OutageReporter } from '../reports/outage-reporter'
import { LOST_REPLICA, ReplicaCount } from './replica-count'

/** The answer to a command, and whether a replica has its writes, or none needs to have them. */
export interface ReplicaAckReply {
  readonly value: unknown
  readonly acknowledged: boolean
  /** WAIT failed, such as in a failover. The command has been applied all the same. */
  readonly waitError?: Error | undefined
}

/** One command, and the callbacks for its answer. */
interface Order {
  readonly queued: Moment
  readonly command: readonly (string | number)[]
  readonly asking: boolean
  resolve(answer: ReplicaAckReply): void
  reject(error: unknown): void
}

/**
 * - `slavesSyncTimeout`: how long to wait for replicas, in ms
 * - `checkLockSyncedSlaves`: whether a missing acknowledgement counts. If not, every answer is acknowledged
 */
export type ReplicaAckOptions = Pick<ResolvedOptions, 'slavesSyncTimeout' | 'checkLockSyncedSlaves'>

/**
 * A command that waits for longer is not sent, in ms: its caller has left, and the server may have forgotten
 * an earlier copy.
 */
const LONGEST_IN_QUEUE = 30_000
/**
 * The most commands of one batch. A batch is answered as a whole, so one without a limit would look like a
 * silent server.
 */
const LARGEST_BATCH = 1_000
/** A connection counts as silent if a batch is unanswered for this much longer than WAIT may take, in ms. */
const SILENT_FOR = 2_000
/**
 * How long the server may take to answer INFO, in ms, before the client asks the cluster whether another one
 * is the primary.
 */
const ANSWERED_WITHIN = 500
/** How often a count is renewed for releases that a replica may lack, in ms. */
const ASKED_EVERY = 500

type Result = [error: Error | null, value: unknown]

/**
 * Sends commands and waits until a replica has them. It has a connection of its own, because WAIT blocks its
 * connection. Commands that come while a WAIT is in flight form the next batch, with one WAIT.
 *
 * It resends nothing. A WAIT on another connection than that of its command would be answered at once, and
 * would mean nothing.
 */
export class ReplicaAckBatcher {
  private queue: Order[] = []
  private underWay: readonly Order[] = []
  private closed = false
  private readonly replicas: ReplicaCount
  private cutOff = false
  /** When the batch in flight was written. Undefined: there is none, and none is about to be. */
  private sent: Moment | undefined
  /** When the INFO in flight was sent that belongs to no batch. */
  private asked: Moment | undefined

  constructor(
    readonly redis: Redis,
    /** Identifies the server of the connection. */
    idOfServer: () => string,
    private readonly client: Pick<ConnectedClient, 'clock' | 'replicasCutOff' | 'replicated'>,
    private readonly options: ReplicaAckOptions,
    refusals: OutageReporter,
  ) {
    this.replicas = new ReplicaCount(redis, idOfServer, client, refusals)
    reconnectUnless(() => this.closed, redis, client.clock)
    // The next connection may reach another server.
    redis.on('close', () => {
      this.replicas.forget()
      client.replicasCutOff()
    })
  }

  /** `queued`: when its caller asked for it. */
  send(
    command: readonly (string | number)[],
    queued = this.client.clock.now(),
    asking = false,
  ): Promise<ReplicaAckReply> {
    return new Promise((resolve, reject) => {
      if (this.closed) return reject(NOT_SENT)
      this.queue.push({ queued, command, asking, resolve, reject })
      if (this.sent === undefined) void this.sendBatches()
    })
  }

  /**
   * False if no count so far found a replica, and the last count is valid. Then a command need not come by
   * this connection, which is slower. It still comes once a second, and counts again.
   */
  get mayHaveReplicas(): boolean {
    return this.replicas.hadReplicas || !this.replicas.isKnown
  }

  /** The server whose replicas were counted. */
  get server(): string | undefined {
    return this.replicas.server
  }

  /** Asks how far the replicas are. False if the server does not answer, or is a primary no more. */
  ask(): boolean {
    const { asked, replicas, sent } = this
    const { clock } = this.client
    if (asked) return clock.elapsedSince(asked) < ANSWERED_WITHIN
    if (sent) return clock.elapsedSince(sent) < this.options.slavesSyncTimeout + ANSWERED_WITHIN
    if (replicas.age < ASKED_EVERY) return replicas.isPrimary
    this.asked = clock.now()
    const answered = (isPrimary: boolean) => {
      this.asked = undefined
      replicas.isPrimary = isPrimary
    }
    replicas.count().then(
      () => answered(replicas.isPrimary),
      () => answered(false),
    )
    return replicas.isPrimary
  }

  /** Closes the connection if its batch is unanswered for longer than its WAIT can take. */
  probe(): void {
    const { clock } = this.client
    if (this.redis.status === 'connect') pingOrDisconnect(this.redis, clock)
    else if (
      this.sent !== undefined &&
      clock.elapsedSince(this.sent) > this.options.slavesSyncTimeout + SILENT_FOR
    )
      this.redis.disconnect(true)
  }

  /**
   * Rejects unanswered commands. ioredis would never settle them if it is closed between two tries to
   * reconnect.
   */
  close(): void {
    this.closed = true
    this.redis.disconnect()
    const error = new Error('Connection is closed')
    for (const order of [...this.underWay, ...this.queue]) order.reject(error)
    this.queue = []
  }

  private async sendBatches() {
    this.sent = this.client.clock.now()
    // Commands of the same tick belong to the first batch.
    await Promise.resolve()
    while (this.queue.length > 0) {
      const queue = this.queue.splice(0, LARGEST_BATCH)
      this.underWay = queue
      this.sent = this.client.clock.now()
      try {
        // The replicas are counted before the batch is sent. An old count must not decide that no replica
        // needs to acknowledge.
        if (!this.replicas.isKnown) await this.replicas.count()
        if (this.replicas.isInDoubt && this.options.checkLockSyncedSlaves) throw LOST_REPLICA
        const batch = queue.filter((order) => this.isInTime(order))
        if (batch.length > 0) await this.sendBatch(batch)
      } catch (error) {
        for (const order of queue) order.reject(error)
      }
    }
    this.underWay = []
    this.sent = undefined
  }

  /** The process may have stood still. */
  private isInTime({ queued, reject }: Order): boolean {
    const isInTime = this.client.clock.elapsedSince(queued) < LONGEST_IN_QUEUE
    if (!isInTime) reject(NOT_SENT)
    return isInTime
  }

  private async sendBatch(batch: readonly Order[]) {
    const { awaited } = this.replicas
    const { checkLockSyncedSlaves, slavesSyncTimeout } = this.options
    const waits = awaited > 0
    const written = this.client.clock.now()
    const pipeline = this.redis.pipeline()
    for (const { command, asking } of batch) {
      if (asking) pipeline.asking()
      const [name, ...args] = command
      pipeline.call(String(name), ...args)
    }
    if (waits) pipeline.wait(awaited, slavesSyncTimeout)
    const results = (await pipeline.exec()) as Result[]
    const [waitError, count] = (waits && results.pop()) || []
    this.reportCutOff(results)
    const acknowledged = waitError
      ? this.replicas.isWithoutWait(waitError)
      : !waits || (await this.replicas.areEnough(Number(count), written)) || !checkLockSyncedSlaves
    let index = 0
    for (const order of batch) {
      if (order.asking) index++
      const [error, value] = results[index++]!
      // The error of the command comes first: MOVED says where to go, even if WAIT failed as well.
      if (error) order.reject(error)
      else order.resolve({ value, acknowledged, ...(!acknowledged && waitError && { waitError }) })
    }
  }

  /** Reports NOREPLICAS once, until a command succeeds again. */
  private reportCutOff(results: readonly Result[]) {
    const wasCutOff = this.cutOff
    this.cutOff = results.some(([error]) => error && CUT_OFF.test(error.message))
    if (this.cutOff && !wasCutOff) this.client.replicasCutOff()
  }
}

/** The answer of a primary that has fewer replicas than its `min-replicas-to-write`. */
const CUT_OFF = /\bNOREPLICAS\b/
