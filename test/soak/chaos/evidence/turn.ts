import type {
  FaultInjected,
  HistoryEvent,
  Operation,
  SimulatedObject,
} from '../../../../tools/simulator/judge/history'
import type { Event, EvidenceRecord } from './records'

const OPERATIONS: Partial<Record<EvidenceRecord['side'], Operation>> = {
  s: 'set',
  d: 'count-down',
  a: 'await',
}

const AWAY = /^(REDIS_UNAVAILABLE|LOCK_NOT_REPLICATED)/
/** What it had sent is released again within so many ms. */
const OUTAGE_RECOVERY = 2_500

/** One turn of a caller: what was recorded of it, and so what it called and was answered. */
export class Turn {
  private readonly records = new Map<Event, EvidenceRecord>()

  constructor(
    /** Its release has the next number. */
    readonly id: number,
    readonly object: SimulatedObject,
    readonly want: EvidenceRecord,
    private readonly units: number,
  ) {}

  /** When it ended; Infinity where it has not. */
  get endedAt(): number {
    return (
      (this.records.get('free') ?? this.records.get('quit') ?? this.through)?.at ?? Number.POSITIVE_INFINITY
    )
  }

  /** The server may have its hold until the lease ends: it was lost, or its release or acquisition failed. */
  get isLeftToLease(): boolean {
    const isLost = this.records.has('lost') || this.records.get('free')?.ok === false
    return isLost || this.records.get('quit')?.error !== undefined
  }

  /** That its client found the servers away, perhaps because the machine was busy: as much a fault as one that was planned. */
  outage(ms: (micros: number) => number): FaultInjected[] {
    const failed = [this.records.get('quit'), this.records.get('free')].find(
      (record) => record?.error !== undefined && AWAY.test(record.error),
    )
    if (!failed) return []
    const { at, worker } = this.want
    return [
      {
        ...{ type: 'fault', kind: 'outage', at: ms(at), until: ms(failed.at), recovery: OUTAGE_RECOVERY },
        ...{ clients: [worker], excuses: ['delay', 'errors', 'loss', 'order'] },
      },
    ]
  }

  add(record: EvidenceRecord): void {
    if (!this.records.has(record.event)) this.records.set(record.event, record)
  }

  /** `ms`: the time of a moment. */
  events(ms: (micros: number) => number): HistoryEvent[] {
    const { id, object, want, records } = this
    const { worker: client, caller, lease, side } = want
    const operation = OPERATIONS[side] ?? 'acquire'
    const events: HistoryEvent[] = []
    const units = operation === 'set' ? this.units : want.units
    events.push({ type: 'call', at: ms(want.at), id, client, caller, object, operation, lease, units })
    const [entered, lost, left, freed, quit] = (['in', 'lost', 'out', 'free', 'quit'] as const).map((event) =>
      records.get(event),
    )
    if (entered) {
      const { token, owner } = entered
      const owners = owner === undefined ? undefined : [owner]
      events.push({ type: 'return', at: ms(entered.at), id, ok: true, token, owners })
    }
    if (quit) events.push(ended(id, quit, ms))
    // The owner of a change is its caller, and it holds nothing.
    if (operation !== 'acquire') return freed ? [...events, ended(id, freed, ms)] : events
    if (lost && entered)
      events.push({ type: 'told', at: ms(lost.at), hold: id, how: lease === undefined ? 'signal' : 'lease' })
    // From there on it does nothing inside any more.
    const over = left ?? (lost ? undefined : freed)
    if (!over || !entered) return events
    events.push({ type: 'act', at: ms(over.at), hold: id })
    const release = {
      type: 'call',
      at: ms(over.at),
      id: id + 1,
      client,
      caller,
      object,
      hold: id,
      units,
    } as const
    events.push({ ...release, operation: 'release' })
    if (freed) events.push(ended(id + 1, freed, ms))
    return events
  }

  /** A caller of a latch holds nothing. */
  private get through(): EvidenceRecord | undefined {
    return this.want.side === 'a' ? this.records.get('in') : undefined
  }
}

/** `free` says whether it was done, `quit` that a try was in vain, or why it failed. */
function ended(
  id: number,
  { at, event, ok, error }: EvidenceRecord,
  ms: (micros: number) => number,
): HistoryEvent {
  if (error === undefined) return { type: 'return', at: ms(at), id, ok: event === 'free' && ok }
  const [code = ''] = error.split(': ')
  // The signal that gives a caller its time.
  const isGivenUp = code === 'TimeoutError' || code === '20' || code === '23'
  return {
    type: 'failure',
    at: ms(at),
    id,
    error: isGivenUp ? 'AbortError' : code,
    mayBeApplied: code !== 'LOCK_LOST',
  }
}
