import type { World } from '../../packages/testing/src/simulation/world'
import type { Called, Excuse, HistoryEvent, Returned, SimulatedObject, Told } from './judge/history'

type Asked = Omit<Called, 'type' | 'at' | 'id'>
type Granted = Omit<Returned, 'type' | 'at' | 'id'>

/**
 * Writes the history of one run. All events of one type have the same fields, also where they are undefined: objects of one shape cost
 * less to make and to judge.
 */
export class Recorder {
  readonly events: HistoryEvent[] = []
  private calls = 0
  /** How many acquisitions were granted. */
  sections = 0
  readonly faults = new Map<string, number>()

  constructor(private readonly world: World) {}

  /** A caller begins an operation; returns the number of the call. */
  call(asked: Asked): number {
    const id = ++this.calls
    const { client, caller, object, operation, as, wait, lease, limit, units, hold } = asked
    const at = this.world.time
    this.events.push({
      type: 'call',
      at,
      id,
      client,
      caller,
      object,
      operation,
      as,
      wait,
      lease,
      limit,
      units,
      hold,
    })
    return id
  }

  returned(id: number, answer: Granted): void {
    const { ok, token, value, level, owners } = answer
    this.events.push({ type: 'return', at: this.world.time, id, ok, token, value, level, owners })
  }

  /** The operation rejected. An error of the package has a code; the reason of an abort may be anything. */
  failed(id: number, error: unknown): void {
    const { code: given, name } = error as { code?: unknown; name?: string }
    const code = typeof given === 'string' ? given : undefined
    const mayBeApplied = !NEVER_APPLIED.has(code ?? '')
    this.events.push({
      type: 'failure',
      at: this.world.time,
      id,
      error: code ?? name ?? String(error),
      mayBeApplied,
    })
  }

  told(hold: number, how: Told['how']): void {
    this.events.push({ type: 'told', at: this.world.time, hold, how })
  }

  acted(hold: number): void {
    this.events.push({ type: 'act', at: this.world.time, hold })
  }

  client(
    client: string,
    change: 'created' | 'killed' | 'suspended' | 'resumed' | 'shut-down' | 'closed',
    peer: 'node' | 'java' = 'node',
  ): void {
    this.events.push({ type: 'client', at: this.world.time, client, peer, change })
  }

  /**
   * `lasts`: in ms; `recovery`: for how long its traces may last. Call what it returns at the end of a fault whose length
   * is not known before.
   */
  fault(
    kind: string,
    excuses: readonly Excuse[],
    touched: {
      lasts?: number
      recovery: number
      clients?: readonly string[]
      names?: readonly string[]
      server?: string
      forgets?: true
      rewinds?: true
    },
  ): () => void {
    const { lasts = 0, recovery, ...rest } = touched
    const at = this.world.time
    this.faults.set(kind, (this.faults.get(kind) ?? 0) + 1)
    const fault = { type: 'fault' as const, at, kind, until: at + lasts, recovery, excuses, ...rest }
    this.events.push(fault)
    return () => {
      fault.until = Math.max(fault.until, this.world.time)
    }
  }

  note(event: HistoryEvent): void {
    this.events.push(event)
  }

  objects: SimulatedObject[] = []
}

/** With these the server has surely not done what was asked. */
const NEVER_APPLIED = new Set(['LOCK_LOST', 'ILLEGAL_MONITOR_STATE', 'WRONG_TYPE', 'PERMIT_NOT_HELD'])
