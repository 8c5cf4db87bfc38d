import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import Redis from 'ioredis'

/** A command as Redis ran it, those inside scripts included. */
export interface ServerCommand {
  /** Milliseconds since the epoch by the server's clock, with a fraction. */
  readonly at: number
  readonly args: readonly string[]
}

const COMPLETE_WITHIN_MS = 10_000

/**
 * What MONITOR shows: every command in the one order in which the server ran them, whatever client sent it and in
 * whichever language. No process has to be trusted, nor any clock but the server's.
 */
export class ServerRecord {
  readonly #ends = new Map<string, () => void>()

  private constructor(
    readonly redis: Redis,
    private readonly monitor: Redis,
    private readonly clockAheadMs: number,
  ) {}

  static async open(url: string, onCommand: (command: ServerCommand) => void): Promise<ServerRecord> {
    const redis = new Redis(url)
    // It must not reconnect: what went by in between would be missing without a trace.
    const source = new Redis(url, { lazyConnect: true, retryStrategy: () => null })
    const monitor = await source.monitor()
    source.disconnect()
    const [seconds, micros] = (await redis.time()).map(Number) as [number, number]
    const record = new ServerRecord(redis, monitor, seconds * 1000 + micros / 1000 - Date.now())
    monitor.on('monitor', (time: string, args: string[]) => {
      record.#ends.get(args.join(' '))?.()
      onCommand({ at: Number(time) * 1000, args })
    })
    return record
  }

  /** The server's clock, give or take a round trip. */
  now(): number {
    return Date.now() + this.clockAheadMs
  }

  /** Resolves when everything that the server has run until now has arrived here. */
  async caughtUp(): Promise<void> {
    const end = `end-${randomUUID()}`
    const seen = new Promise<void>((resolve) => this.#ends.set(`echo ${end}`, resolve))
    await this.redis.call('echo', end)
    const giveUp = new AbortController()
    const tooLate = sleep(COMPLETE_WITHIN_MS, undefined, { signal: giveUp.signal }).then(
      () => {
        throw new Error("the record of the server's commands broke off")
      },
      () => {},
    )
    await Promise.race([seen, tooLate])
    giveUp.abort()
  }

  close(): void {
    this.monitor.disconnect()
    this.redis.disconnect()
  }
}
