import { Redis } from 'ioredis'
import { type Event, micros, type Side, STREAM } from '../evidence/records'

/** What stays the same in all records of one turn. */
export interface Turn {
  readonly caller: string
  readonly lock: string
  readonly side: Side
  readonly turn: number
  readonly lease: number | undefined
  /** How many permits it asks for. */
  readonly units?: number | undefined
  /** What the grant drew. */
  readonly token?: number | undefined
  readonly owner?: string | undefined
}

/** Records what happens on a server of its own that nothing ever happens to. */
export class EvidenceWriter {
  private readonly redis: Redis

  constructor(
    url: string,
    private readonly worker: string,
  ) {
    // A gap in the evidence must end the run rather than go unnoticed.
    this.redis = new Redis(url, { retryStrategy: () => null, maxRetriesPerRequest: 0 })
  }

  /** In order with everything else. What must be known before anything else happens is waited for. */
  async note(event: Event, turn: Turn, more: { ok?: boolean; error?: string } = {}): Promise<void> {
    const fields = this.fields(event, turn)
    if (more.ok !== undefined) fields.push('ok', more.ok ? '1' : '0')
    if (more.error !== undefined) fields.push('err', more.error.slice(0, 200))
    await this.redis.xadd(STREAM, '*', ...fields)
  }

  async close(): Promise<void> {
    await this.redis.quit()
  }

  private fields(event: Event, { caller, lock, side, turn, lease, units, token, owner }: Turn): string[] {
    const fields = ['e', event, 'w', this.worker, 'f', caller, 'l', lock, 's', side]
    fields.push('n', String(turn), 't', String(micros()))
    if (lease !== undefined) fields.push('lease', String(lease))
    if (units !== undefined) fields.push('u', String(units))
    if (token !== undefined) fields.push('k', String(token))
    if (owner !== undefined) fields.push('o', owner)
    return fields
  }
}
