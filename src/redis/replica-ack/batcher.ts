import type { Redis } from 'ioredis'
import type { ResolvedOptions } from '../../api/options'
import type { Moment } from '../../util/clock'
import type { ReplicaAckReply } from '../command-connection'
import type { ConnectedClient } from '../connected-client'
import { classify, isLogin, NOT_SENT } from '../errors'
import { pingOrDisconnect } from '../health-check'
import { SelectRefusedError } from '../ioredis-internals'
import type { OutageReporter } from '../outage-reporter'
import { reconnectUnless } from '../reconnect'
import { onlineReplicas } from '../replication-info'

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

/** How long a count of the replicas is valid, in ms. */
const REPLICAS_KNOWN_FOR = 1_000
/** A replica reports every second. If its last report is older than this, in s, the client waits for the others only. */
const KEEPS_UP = 1
/** How long the client does not wait again for replicas that missed a WAIT while others answered it, in ms. */
const LAGGING_FOR = 10_000
/** A command that waits for longer is not sent, in ms: its caller has left, and the server may have forgotten an earlier copy. */
const LONGEST_IN_QUEUE = 30_000
/** The most commands of one batch. A batch is answered as a whole, so one without a limit would look like a silent server. */
const LARGEST_BATCH = 1_000
/** A connection counts as silent if a batch is unanswered for this much longer than WAIT may take, in ms. */
const SILENT_FOR = 2_000

type Result = [error: Error | null, value: unknown]

/**
 * Sends commands and waits until a replica has them. It has a connection of its own, because WAIT blocks its connection.
 * Commands that come while a WAIT is in flight form the next batch, with one WAIT.
 *
 * It resends nothing. A WAIT on another connection than that of its command would be answered at once, and would mean nothing.
 */
export class ReplicaAckBatcher {
  private queue: Order[] = []
  private underWay: readonly Order[] = []
  private closed = false
  /** How many replicas to wait for. One acknowledgement is enough. */
  private awaited = 0
  /** When that was found out, and how long it is valid, in ms. */
  private counted: Moment | undefined
  private validFor = REPLICAS_KNOWN_FOR
  /** The server had an online replica at some count. */
  private hadReplicas = false
  private cutOff = false
  /** When the batch in flight was written. Undefined: there is none, and none is about to be. */
  private sent: Moment | undefined

  constructor(
    readonly redis: Redis,
    private readonly client: Pick<ConnectedClient, 'clock' | 'replicasCutOff'>,
    private readonly options: ReplicaAckOptions,
    /** Receives the error that the server has no WAIT, or that this user may not use WAIT or INFO. */
    private readonly refusals: OutageReporter,
  ) {
    reconnectUnless(() => this.closed, redis, client.clock)
    // The next connection may reach another server.
    redis.on('close', () => {
      this.counted = undefined
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
      if (this.closed) return reject(isClosed())
      this.queue.push({ queued, command, asking, resolve, reject })
      if (this.sent === undefined) void this.sendBatches()
    })
  }

  /**
   * False if no count so far found a replica, and the last count is valid. Then a command need not come by this connection, which
   * is slower. It still comes once a second, and counts again.
   */
  get mayHaveReplicas(): boolean {
    return this.hadReplicas || !this.isCounted
  }

  private get isCounted(): boolean {
    const { counted, client } = this
    return counted !== undefined && client.clock.elapsedSince(counted) <= this.validFor
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

  /** Rejects unanswered commands. ioredis would never settle them if it is closed between two tries to reconnect. */
  close(): void {
    this.closed = true
    this.redis.disconnect()
    for (const order of [...this.underWay, ...this.queue]) order.reject(isClosed())
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
        // The replicas are counted before the batch is sent. An old count must not decide that no replica needs to acknowledge.
        if (!this.isCounted) await this.countReplicas()
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
    const waits = this.awaited > 0
    const pipeline = this.redis.pipeline()
    for (const { command, asking } of batch) {
      if (asking) pipeline.asking()
      const [name, ...args] = command
      pipeline.call(String(name), ...args)
    }
    if (waits) pipeline.wait(this.awaited, this.options.slavesSyncTimeout)
    const results = (await pipeline.exec()) as Result[]
    const wait = waits ? this.readWait(results.pop()!) : { acknowledged: true }
    this.reportCutOff(results)
    const acknowledged =
      wait.acknowledged || (!wait.error && (await this.countReplicas(true).catch(() => false)))
    let index = 0
    for (const order of batch) {
      if (order.asking) index++
      const [error, value] = results[index++]!
      // The error of the command comes first: MOVED says where to go, even if WAIT failed as well.
      if (error) order.reject(error)
      else order.resolve({ value, acknowledged, ...(wait.error && { waitError: wait.error }) })
    }
  }

  /** Reports NOREPLICAS once, until a command succeeds again. */
  private reportCutOff(results: readonly Result[]) {
    const wasCutOff = this.cutOff
    this.cutOff = results.some(([error]) => error && CUT_OFF.test(error.message))
    if (this.cutOff && !wasCutOff) this.client.replicasCutOff()
  }

  /**
   * Decides how many replicas to wait for: all that keep up, so that any of them may become the primary. A replica in its
   * initial sync does not count, because it can neither acknowledge nor be promoted with data. A replica that is online but
   * has acknowledged nothing may still load its copy, for any time, or may have come online a moment ago. It counts while its
   * lag is short and no WAIT has failed to reach it.
   *
   * Resolves with whether all online replicas are loading their first copy of the data.
   */
  private async countReplicas(askedInVain = false): Promise<boolean> {
    try {
      const online = onlineReplicas(await this.redis.info('replication'))
      const counted = online.filter(
        ({ lag, hasAcknowledged }) => hasAcknowledged || (lag <= KEEPS_UP && !askedInVain),
      )
      const keepingUp = counted.filter(({ lag }) => lag <= KEEPS_UP)
      this.waitFor(Math.min(counted.length, Math.max(1, keepingUp.length)))
      this.hadReplicas ||= online.length > 0
      return online.length > 0 && counted.length === 0
    } catch (error) {
      if (!isRefused(error)) throw error
      this.waitForNone()
      return false
    }
  }

  private readWait([error, count]: Result): { acknowledged: boolean; error?: Error } {
    if (error) {
      if (!isRefused(error)) return { acknowledged: false, error }
      this.waitForNone()
      return { acknowledged: true }
    }
    this.refusals.answered()
    const answered = Number(count)
    if (answered > 0 && answered < this.awaited) this.waitFor(answered, LAGGING_FOR)
    return { acknowledged: answered > 0 || !this.options.checkLockSyncedSlaves }
  }

  private waitFor(replicas: number, validFor = REPLICAS_KNOWN_FOR) {
    this.awaited = replicas
    this.counted = this.client.clock.now()
    this.validFor = validFor
  }

  /** Until the next count: the right may be granted. */
  private waitForNone() {
    this.waitFor(0)
    this.refusals.failed(
      new Error(
        'The server has no WAIT, or refuses WAIT or INFO to this user. Acquisitions do not wait for replicas. Grant the ' +
          'user +wait +info.',
      ),
    )
  }
}

/** The answer of a primary that has fewer replicas than its `min-replicas-to-write`. */
const CUT_OFF = /\bNOREPLICAS\b/
const isClosed = () => new Error('Connection is closed')

/** Whether the server does not know the command, or this user may not use it. */
function isRefused(error: unknown): boolean {
  return classify(error) === 'refused' && !(error instanceof SelectRefusedError) && !isLogin(error)
}
