import type {
  Called,
  FaultInjected,
  History,
  HistoryEvent,
  KeyChanged,
  Operation,
  Returned,
  SimulatedObject,
  Told,
} from '../../judge/history'
import { judge } from '../../judge/judge'

const LIMITS = { latency: 1, watchdogTimeout: 3_000, longestLease: 3_000, drift: 0 }

/** Writes a history as a test tells it: one ms passes between two events unless `at` says otherwise. */
export class Written {
  private readonly events: HistoryEvent[] = []
  private time = 0
  private calls = 0

  constructor(readonly object: SimulatedObject) {}

  at(time: number): this {
    this.time = time - 1
    return this
  }

  call(who: string, operation: Operation = 'acquire', more: Partial<Called> = {}): number {
    const [client = '', caller = ''] = who.split('/')
    const id = ++this.calls
    this.add({ type: 'call', id, client, caller, object: this.object, operation, ...more })
    return id
  }

  returned(id: number, more: Partial<Returned> = {}): this {
    return this.add({ type: 'return', id, ok: true, ...more })
  }

  failed(id: number, error: string, mayBeApplied = false): this {
    return this.add({ type: 'failure', id, error, mayBeApplied })
  }

  /** Acquires at once. Returns the hold. */
  acquires(who: string, call: Partial<Called> = {}, answer: Partial<Returned> = {}): number {
    const id = this.call(who, 'acquire', call)
    this.returned(id, answer)
    return id
  }

  releases(who: string, hold: number, more: Partial<Called> = {}): this {
    return this.returned(this.call(who, 'release', { hold, ...more }))
  }

  told(hold: number, how: Told['how'] = 'signal'): this {
    return this.add({ type: 'told', hold, how })
  }

  acts(hold: number): this {
    return this.add({ type: 'act', hold })
  }

  client(client: string, change: 'killed' | 'suspended' | 'resumed'): this {
    return this.add({ type: 'client', client, peer: 'node', change })
  }

  java(client: string): this {
    return this.add({ type: 'client', client, peer: 'java', change: 'created' })
  }

  fault(more: Partial<FaultInjected>): this {
    return this.add({ type: 'fault', kind: 'test', recovery: 0, excuses: [], ...more })
  }

  key(more: Partial<KeyChanged>): this {
    return this.add({ type: 'key', name: this.object.name, owners: [], ...more })
  }

  ends(keys: readonly { key: string; ttl: number }[] = [], left: Record<string, number> = {}): this {
    return this.add({ type: 'end', keys, channels: [], clients: [{ client: 'a', left }] })
  }

  /** The rules that it breaks. */
  get broken(): string[] {
    return [...new Set(judge(this.history).map(({ rule }) => rule))]
  }

  get history(): History {
    return { scene: 'test', seed: 1, objects: [this.object], events: this.events, limits: LIMITS }
  }

  private add(event: Record<string, unknown>): this {
    this.time++
    this.events.push({ at: this.time, ...event } as unknown as HistoryEvent)
    return this
  }
}
