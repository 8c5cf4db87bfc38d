import { Judge } from '../../soak/chaos/evidence/judge'
import type { EvidenceRecord } from '../../soak/chaos/evidence/records'
import type { FaultKind } from '../../soak/chaos/plan/catalogue'
import { OBJECTS, type ObjectKind, plansOf } from '../../soak/chaos/plan/objects'

const SECOND = 1_000_000

/** Feeds the judge of a chaos run with what workers would have recorded of one object; times in seconds. */
export class Story {
  readonly judge = new Judge(plansOf(Object.keys(OBJECTS) as ObjectKind[]))
  private last = 0

  constructor(private readonly lock: string) {}

  tell(at: number, who: string, event: EvidenceRecord['event'], more: Partial<EvidenceRecord> = {}): this {
    const [worker = '', caller = 'caller'] = who.split(' ')
    this.judge.record({
      ...{ event, worker, caller, lock: this.lock, side: 'x', turn: 1, at: at * SECOND },
      ...{ ok: true, error: undefined, lease: undefined },
      ...more,
    })
    this.last = Math.max(this.last, at)
    return this
  }

  inside(at: number, who: string, more: Partial<EvidenceRecord> = {}): this {
    return this.tell(at - 0.001, who, 'want', more).tell(at, who, 'in', more)
  }

  leaves(at: number, who: string, more: Partial<EvidenceRecord> = {}): this {
    return this.tell(at, who, 'out', more).tell(at + 0.001, who, 'free', more)
  }

  /** A whole turn that is as it should be. */
  turn(at: number, who: string, more: Partial<EvidenceRecord> = {}): this {
    return this.inside(at, who, more).leaves(at + 0.01, who, more)
  }

  fault(kind: FaultKind, worker: string | undefined, from: number, to: number): this {
    this.judge.disturbances.begin(kind, worker, from * SECOND).to = to * SECOND
    return this
  }

  killed(at: number, worker: string): this {
    this.judge.workerKilled(worker, at * SECOND)
    return this
  }

  /** The server said so. */
  seen(
    at: number,
    owners: readonly string[],
    more: { value?: number; queue?: readonly string[] } = {},
  ): this {
    this.judge.seen({ name: this.lock, askedAt: at * SECOND, answeredAt: at * SECOND + 100, owners, ...more })
    this.last = Math.max(this.last, at)
    return this
  }

  look(at: number): this {
    this.judge.look(at * SECOND)
    return this
  }

  violations(): string[] {
    this.judge.finish((this.last + 1) * SECOND)
    return this.judge.violations.map(({ kind }) => kind)
  }
}
