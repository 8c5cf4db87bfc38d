import type { Redis } from 'ioredis'
import type { Clock, Moment } from '../../util/clock'
import { classify } from '../errors'
import { SelectRefusedError } from '../handshake'
import { pingOrDisconnect } from '../health-check'
import { reconnectUnless } from '../reconnect'
import { onlineReplicas } from '../replication-info'

/** One command and how to answer it. */
interface Order {
  readonly command: readonly (string | number)[]
  readonly asking: boolean
  resolve(answer: ReplicaAckReply): void
  reject(error: unknown): void
}

export interface ReplicaAckReply {
  readonly value: unknown
  /** A replica has it, or need not have it. */
  readonly acknowledged: boolean
}

export interface ReplicaAckOptions {
  readonly clock: Clock
  /** How long to wait for replicas, in ms. */
  readonly slavesSyncTimeout: number
  /** Whether what no replica acknowledged is answered as such. */
  readonly checkLockSyncedSlaves: boolean
  /** The server has no WAIT, or this user may not use it or INFO. Asked again, it may say so again. */
  onNoWait(error: Error): void
  /** The server has answered a WAIT. */
  onWaited?(): void
  /** A server is gone, or says that its replicas are: perhaps it had not passed on all it answered. */
  onCutOff?(): void
}

/** The replicas are counted again after this long. */
const REPLICAS_KNOWN_FOR = 1_000
/** A replica sends word every second; one silent for longer than this, in s, is not waited for beside others. */
const KEEPS_UP = 1
/** Replicas that did not answer a WAIT in time are not waited for again for this long, beside those that did. */
const LAGGING_FOR = 10_000
/** Without an answer for this much longer than WAIT may take, the connection has gone silent. */
const SILENT_FOR = 2_000

type Result = [error: Error | null, value: unknown]

/**
 * Sends commands and waits until a replica has them, on a connection of its own: WAIT blocks the connection
 * it is sent on. What comes in while a WAIT is out goes together in the next write, under one WAIT.
 *
 * Nothing is resent here. A WAIT that ended up on another connection than its command would be answered at
 * once and mean nothing.
 */
export class ReplicaAckBatcher {
  private queue: Order[] = []
  private underWay: readonly Order[] = []
  private busy = false
  private closed = false
  /** How many replicas to wait for; one that answers is enough. */
  private awaited = 0
  private counted: Moment | undefined
  /** All online replicas load their first copy. */
  private areLoading = false
  private lagging: { readonly since: Moment; readonly answered: number } | undefined
  private hasWait = true
  private cutOff = false
  /** When the batch in flight was written. */
  private sent: Moment | undefined

  constructor(
    readonly redis: Redis,
    private readonly options: ReplicaAckOptions,
  ) {
    reconnectUnless(() => this.closed, redis, options.clock)
    // Another server may be at the other end now.
    redis.on('close', () => {
      this.counted = undefined
      this.lagging = undefined
      this.hasWait = true
      options.onCutOff?.()
    })
  }

  send(command: readonly (string | number)[], asking = false): Promise<ReplicaAckReply> {
    return new Promise((resolve, reject) => {
      if (this.closed) return reject(isClosed())
      this.queue.push({ command, asking, resolve, reject })
      if (!this.busy) void this.sendBatches()
    })
  }

  /** Cuts the connection when its batch is unanswered for longer than any WAIT of ours takes. */
  probe(): void {
    const { clock, slavesSyncTimeout } = this.options
    if (this.redis.status === 'connect') pingOrDisconnect(this.redis, clock)
    else if (this.sent !== undefined && clock.elapsedSince(this.sent) > slavesSyncTimeout + SILENT_FOR)
      this.redis.disconnect(true)
  }

  /** Rejects what is unanswered: closed between two tries to reconnect, ioredis would leave it so for ever. */
  close(): void {
    this.closed = true
    this.redis.disconnect()
    for (const order of [...this.underWay, ...this.queue]) order.reject(isClosed())
    this.queue = []
  }

  private async sendBatches() {
    this.busy = true
    // What is asked for in the same turn belongs in the first batch already.
    await Promise.resolve()
    while (this.queue.length > 0) {
      const batch = this.queue
      this.queue = []
      this.underWay = batch
      this.sent = this.options.clock.now()
      try {
        await this.sendBatch(batch)
      } catch (error) {
        for (const order of batch) order.reject(error)
      }
    }
    this.underWay = []
    this.sent = undefined
    this.busy = false
  }

  private async sendBatch(batch: readonly Order[]) {
    // Before and not along with the batch: an old count must not decide that no replica need acknowledge it.
    if (this.counted === undefined || this.options.clock.elapsedSince(this.counted) > REPLICAS_KNOWN_FOR)
      await this.countReplicas()
    const waits = this.hasWait && this.awaited > 0
    const pipeline = this.redis.pipeline()
    for (const { command, asking } of batch) {
      if (asking) pipeline.asking()
      const [name, ...args] = command
      pipeline.call(String(name), ...args)
    }
    if (waits) pipeline.wait(this.awaited, this.options.slavesSyncTimeout)
    const results = (await pipeline.exec()) as Result[]
    const wait = waits ? this.readWait(results.pop()!) : { acknowledged: true }
    this.lookForCutOff(results)
    const acknowledged = wait.acknowledged || (!wait.error && (await this.allAreLoading()))
    let index = 0
    for (const order of batch) {
      if (order.asking) index++
      const [error, value] = results[index++]!
      // Its own error first: what moved away says where to, though WAIT failed as well.
      if (error ?? wait.error) order.reject(error ?? wait.error)
      else order.resolve({ value, acknowledged })
    }
  }

  /** Reported once, until a command succeeds again. */
  private lookForCutOff(results: readonly Result[]) {
    const wasCutOff = this.cutOff
    this.cutOff = results.some(([error]) => error && CUT_OFF.test(error.message))
    if (this.cutOff && !wasCutOff) this.options.onCutOff?.()
  }

  /** Whether no replica acknowledged because those that are connected load their first copy. */
  private async allAreLoading(): Promise<boolean> {
    try {
      await this.countReplicas(true)
    } catch {
      return false
    }
    return this.areLoading
  }

  private async countReplicas(askedInVain = false) {
    try {
      this.readReplication(await this.redis.info('replication'), askedInVain)
      // Where it was refused, the right may have been granted since.
      this.hasWait = true
    } catch (error) {
      if (!isRefused(error)) throw error
      this.giveUpWaiting()
    }
    this.counted = this.options.clock.now()
  }

  /**
   * All that keep up are waited for, so that any of them may become the primary. A replica in its initial sync does not
   * count: it can neither acknowledge nor be promoted with data. One that is online without having acknowledged
   * anything may be loading its copy, which takes any time, or may have come online a moment ago: it counts as long
   * as its lag is short and no WAIT has failed to reach it.
   */
  private readReplication(info: string, askedInVain: boolean) {
    const online = onlineReplicas(info)
    const counted = online.filter(
      ({ lag, hasAcknowledged }) => hasAcknowledged || (lag <= KEEPS_UP && !askedInVain),
    )
    this.areLoading = online.length > 0 && counted.length === 0
    const keepingUp = counted.filter(({ lag }) => lag <= KEEPS_UP).length
    if (this.lagging && this.options.clock.elapsedSince(this.lagging.since) > LAGGING_FOR)
      this.lagging = undefined
    const most = this.lagging?.answered ?? keepingUp
    this.awaited = Math.min(counted.length, Math.max(1, Math.min(keepingUp, most)))
  }

  private readWait([error, count]: Result): { acknowledged: boolean; error?: Error } {
    if (error) {
      if (!isRefused(error)) return { acknowledged: false, error }
      this.giveUpWaiting()
      return { acknowledged: true }
    }
    this.options.onWaited?.()
    const answered = Number(count)
    if (answered < this.awaited) {
      this.lagging = { since: this.options.clock.now(), answered: Math.max(1, answered) }
      this.awaited = this.lagging.answered
    }
    return { acknowledged: answered > 0 || !this.options.checkLockSyncedSlaves }
  }

  private giveUpWaiting() {
    this.hasWait = false
    this.options.onNoWait(
      new Error(
        'The server has no WAIT, or refuses this user WAIT or INFO: locks are not acknowledged by replicas before they are used',
      ),
    )
  }
}

/** The answer of a primary that has fewer replicas than its `min-replicas-to-write`. */
const CUT_OFF = /\bNOREPLICAS\b/
const isClosed = () => new Error('Connection is closed')

/** The server does not know the command, in whichever words, or this user may not use it. */
function isRefused(error: unknown): boolean {
  return classify(error) === 'refused' && !(error instanceof SelectRefusedError)
}
