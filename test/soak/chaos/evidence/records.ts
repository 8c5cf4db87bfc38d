import type { Redis } from 'ioredis'

/**
 * What a section took the lock for: a plain lock, or a side of a read-write lock; permits (`p`). Of a latch: setting its count
 * (`s`), counting it down (`d`), awaiting it (`a`).
 */
export type Side = 'x' | 'r' | 'w' | 'p' | 's' | 'd' | 'a'

/**
 * - `want`: it begins to wait
 * - `in`: it has the lock
 * - `out`: it looked, is inside, and is about to release
 * - `lost`: it got the report that the lock is gone, or found so when it looked
 * - `free`: its release was answered
 * - `quit`: it gave up waiting, or failed to acquire
 */
export type Event = 'want' | 'in' | 'out' | 'lost' | 'free' | 'quit'

/** One entry of the stream; the stream's order is the evidence server's. */
export interface EvidenceRecord {
  readonly event: Event
  readonly worker: string
  readonly caller: string
  readonly lock: string
  readonly side: Side
  /** Counts the turns of this caller. */
  readonly turn: number
  /** When it happened: microseconds of CLOCK_MONOTONIC, which all processes of a machine share. */
  readonly at: number
  /** `free`: whether the release succeeded. */
  readonly ok: boolean
  readonly error: string | undefined
  /** Its own lease rather than the watchdog's, in ms. */
  readonly lease: number | undefined
  /** How many permits it asks for. */
  readonly units?: number | undefined
  /** The fencing token, with an `in`. */
  readonly token?: number | undefined
  /** The owner as Redis has it. */
  readonly owner?: string | undefined
}

export const STREAM = 'chaos:log'

/** Microseconds of the clock that every process of this machine shares. */
export const micros = (): number => Number(process.hrtime.bigint() / 1000n)

export function parseRecord(flat: readonly string[]): EvidenceRecord {
  const fields: Record<string, string> = {}
  for (let i = 0; i + 1 < flat.length; i += 2) fields[flat[i]!] = flat[i + 1]!
  return {
    event: fields.e as Event,
    worker: fields.w ?? '',
    caller: fields.f ?? '',
    lock: fields.l ?? '',
    side: fields.s as Side,
    turn: Number(fields.n),
    at: Number(fields.t),
    ok: fields.ok === '1',
    error: fields.err,
    lease: fields.lease === undefined ? undefined : Number(fields.lease),
    units: fields.u === undefined ? undefined : Number(fields.u),
    token: fields.k === undefined ? undefined : Number(fields.k),
    owner: fields.o,
  }
}

/** Hands off the records of the stream in order, and forgets them on the server. */
export class RecordReader {
  private last = '0-0'
  private stopped = false
  private reading: Promise<void> | undefined

  constructor(
    private readonly redis: Redis,
    private readonly onRecord: (record: EvidenceRecord) => void,
  ) {}

  start(): void {
    this.reading = this.read()
    // Given to stop(); a run that failed never asks.
    this.reading.catch(() => {})
  }

  /** Resolves when everything recorded so far has been handed off. */
  async stop(): Promise<void> {
    this.stopped = true
    await this.reading
  }

  private async read() {
    while (true) {
      const finish = this.stopped
      const answer = await this.redis.xread('COUNT', 5000, 'BLOCK', 200, 'STREAMS', STREAM, this.last)
      const entries = answer?.[0]?.[1] ?? []
      for (const [, flat] of entries) this.onRecord(parseRecord(flat))
      if (entries.length > 0) {
        this.last = entries.at(-1)![0]
        await this.redis.xtrim(STREAM, 'MINID', this.last)
      } else if (finish) return
    }
  }
}
