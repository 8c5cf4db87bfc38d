import { Redis } from 'ioredis'
import { counterOf, ENTER, type Event, LEAVE, micros, type Side, STREAM } from '../evidence/records'

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

interface EvidenceRedis extends Redis {
  enter(stream: string, counter: string, ...fields: string[]): Promise<string>
  leave(stream: string, counter: string, value: string, ...fields: string[]): Promise<unknown>
}

/** Records what happens on a server of its own that nothing ever happens to. */
export class EvidenceWriter {
  private readonly redis: EvidenceRedis

  constructor(
    url: string,
    private readonly worker: string,
  ) {
    // A gap in the evidence must end the run rather than go unnoticed.
    const redis = new Redis(url, { retryStrategy: () => null, maxRetriesPerRequest: 0 })
    redis.defineCommand('enter', { numberOfKeys: 2, lua: ENTER })
    redis.defineCommand('leave', { numberOfKeys: 2, lua: LEAVE })
    this.redis = redis as EvidenceRedis
  }

  /** In order with everything else. What must be known before anything else happens is waited for. */
  async note(event: Event, turn: Turn, more: { ok?: boolean; error?: string } = {}): Promise<void> {
    const fields = this.fields(event, turn)
    if (more.ok !== undefined) fields.push('ok', more.ok ? '1' : '0')
    if (more.error !== undefined) fields.push('err', more.error.slice(0, 200))
    await this.redis.xadd(STREAM, '*', ...fields)
  }

  /** Answers the counter of the lock. */
  async enter(turn: Turn): Promise<number> {
    return Number(await this.redis.enter(STREAM, counterOf(turn.lock), ...this.fields('in', turn)))
  }

  /** Writes the counter, unless `value` is undefined, and records that the section is over. */
  async leave(turn: Turn, value: number | undefined): Promise<void> {
    const fields = this.fields('out', turn)
    if (value !== undefined) fields.push('v', String(value))
    await this.redis.leave(STREAM, counterOf(turn.lock), value === undefined ? '' : String(value), ...fields)
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
