import type { Redis } from 'ioredis'
import type { Clock, Moment } from '../runtime/clock'
import { cutIfSilent } from './command-connection'

/** One command and how to answer it. */
interface Order {
  readonly command: readonly (string | number)[]
  readonly asking: boolean
  resolve(answer: AcknowledgedAnswer): void
  reject(error: unknown): void
}

export interface AcknowledgedAnswer {
  readonly value: unknown
  /** A replica has it, or there is none to have it. */
  readonly acknowledged: boolean
}

export interface AcknowledgedSenderOptions {
  readonly clock: Clock
  /** How long to wait for a replica, in ms. */
  readonly slavesSyncTimeout: number
  /** The server has no WAIT, or this user may not use it or INFO: told once. */
  onNoWait(): void
}

/** The number of replicas is asked for again after this long. */
const REPLICAS_KNOWN_FOR = 1_000
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
export class AcknowledgedSender {
  private queue: Order[] = []
  private busy = false
  private replicas = 0
  private counted: Moment | undefined
  private hasWait = true
  /** When the batch under way was handed over. */
  private sent: Moment | undefined

  constructor(
    readonly redis: Redis,
    private readonly options: AcknowledgedSenderOptions,
  ) {
    // Another server may be at the other end now.
    redis.on('close', () => {
      this.counted = undefined
    })
  }

  send(command: readonly (string | number)[], asking = false): Promise<AcknowledgedAnswer> {
    return new Promise((resolve, reject) => {
      this.queue.push({ command, asking, resolve, reject })
      if (!this.busy) void this.sendBatches()
    })
  }

  /** Cuts the connection when its batch is unanswered for longer than any WAIT of ours takes. */
  probe(): void {
    const { clock, slavesSyncTimeout } = this.options
    if (this.redis.status === 'connect') cutIfSilent(this.redis, clock)
    else if (this.sent !== undefined && clock.elapsedSince(this.sent) > slavesSyncTimeout + SILENT_FOR)
      this.redis.disconnect(true)
  }

  close(): void {
    this.redis.disconnect()
  }

  private async sendBatches() {
    this.busy = true
    // What is asked for in the same turn belongs in the first batch already.
    await Promise.resolve()
    while (this.queue.length > 0) {
      const batch = this.queue
      this.queue = []
      this.sent = this.options.clock.now()
      try {
        await this.sendBatch(batch)
      } catch (error) {
        for (const order of batch) order.reject(error)
      }
    }
    this.sent = undefined
    this.busy = false
  }

  private async sendBatch(batch: readonly Order[]) {
    // Before and not along with the batch: an old count must not decide that nobody need acknowledge it.
    if (this.counted === undefined || this.options.clock.elapsedSince(this.counted) > REPLICAS_KNOWN_FOR)
      await this.countReplicas()
    const waits = this.hasWait && this.replicas > 0
    const pipeline = this.redis.pipeline()
    for (const { command, asking } of batch) {
      if (asking) pipeline.asking()
      const [name, ...args] = command
      pipeline.call(String(name), ...args)
    }
    if (waits) pipeline.wait(1, this.options.slavesSyncTimeout)
    const results = (await pipeline.exec()) as Result[]
    const acknowledged = !waits || this.readWait(results.pop()!)
    let index = 0
    for (const order of batch) {
      if (order.asking) index++
      const [error, value] = results[index++]!
      if (error) order.reject(error)
      else order.resolve({ value, acknowledged })
    }
  }

  private async countReplicas() {
    try {
      const info = await this.redis.info('replication')
      this.replicas = Number(/^connected_slaves:(\d+)/m.exec(info)?.[1] ?? 0)
    } catch (error) {
      if (!isRefused(error)) throw error
      this.giveUpWaiting()
    }
    this.counted = this.options.clock.now()
  }

  private readWait([error, count]: Result): boolean {
    if (!error) return Number(count) > 0
    if (!isRefused(error)) throw error
    this.giveUpWaiting()
    return true
  }

  private giveUpWaiting() {
    if (this.hasWait) this.options.onNoWait()
    this.hasWait = false
  }
}

/** The server does not know the command, or this user may not use it. */
function isRefused(error: unknown): boolean {
  return /unknown command|NOPERM/i.test((error as Error).message)
}
