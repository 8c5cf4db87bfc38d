import { Judge } from '../evidence/judge'
import { type EvidenceRecord, micros } from '../evidence/records'
import type { ViolationKind } from '../evidence/violations'
import { type LockKind, nameWithout, type ObjectPlan, type Plans } from '../plan/objects'
import { Capacity } from './capacity'
import type { Finding } from './finding'
import { LatchJudge } from './latches'
import { QueueJudge, TokenJudge } from './queues'

/** What is left of a hold that was lost, or of a process that was killed, is gone after so long (µs). */
const LEFT_TO_LEASE = 12_000_000
const FAIR: readonly LockKind[] = ['fair', 'nonReentrantFair']

/** What was judged of an object, for the report. */
export interface Judged {
  readonly object: string
  readonly what: string
  readonly times: number
}

/** A multi lock waits so long (µs) for its next member while it keeps others: docs/guides/multi-lock.md. */
const LONGEST_WAIT_FOR_MEMBERS = 5_000_000

/** The judge of locks, and those of what locks do not have: order, tokens, permits, counts. */
export class Court extends Judge {
  readonly capacities = new Map<string, Capacity>()
  readonly latches = new Map<string, LatchJudge>()
  private readonly queues = new Map<string, QueueJudge>()
  private readonly tokens = new Map<string, TokenJudge>()
  /** Locks whose keys nothing looks at: a hold that is left to its lease shows by its records alone. */
  private readonly unwatched: readonly string[]
  private readonly objects: ReadonlyMap<string, ObjectPlan>
  /** Whose owner fields they are, where the field does not say so. */
  readonly ownersOf = new Map<string, string>()

  constructor(
    { locks, objects }: Plans,
    onViolation: (kind: ViolationKind, worker: string) => void = () => {},
  ) {
    super(onViolation)
    this.objects = new Map(objects.map((plan) => [plan.name, plan]))
    this.unwatched = objects.filter(({ kind }) => kind === 'multi' || kind === 'red').map(({ name }) => name)
    for (const name of this.unwatched) this.lock(name).ofSeveral = true
    for (const plan of objects)
      if (plan.kind === 'multi')
        for (const name of plan.groups.flat()) this.lock(name).keptForMembers = LONGEST_WAIT_FOR_MEMBERS
    for (const { name, kind } of locks) {
      if (FAIR.includes(kind)) this.queues.set(name, new QueueJudge(name, this.disturbances))
      if (kind === 'fenced') this.tokens.set(name, new TokenJudge(name, this.disturbances))
    }
  }

  override record(record: EvidenceRecord): void {
    const { event, lock, worker, at, owner } = record
    this.first ??= at
    const plan = this.objects.get(nameWithout(lock))
    const isCounted = plan?.kind === 'semaphore' || plan?.kind === 'permits' || plan?.kind === 'latch'
    if (isCounted) this.recent.remember(record)
    if (plan?.kind === 'semaphore' || plan?.kind === 'permits') return this.permits(record)
    if (plan?.kind === 'latch') return this.found(lock, this.latch(lock).record(record))
    if (event === 'owner') this.ownersOf.set(owner!, worker)
    else if (event !== 'place') super.record(record)
    const isLeft = event === 'lost' || (event === 'free' && !record.ok) || (event === 'quit' && record.error)
    if (isLeft && this.unwatched.includes(lock)) this.leftToLease(lock, at)
    this.found(lock, this.queues.get(lock)?.record(record))
    this.found(lock, this.tokens.get(lock)?.record(record))
  }

  override workerKilled(worker: string, at: number): void {
    super.workerKilled(worker, at)
    for (const name of this.unwatched) this.leftToLease(name, at)
    for (const capacity of this.capacities.values()) capacity.killed(worker, at)
    for (const latch of this.latches.values()) latch.killed(worker)
  }

  override look(now: number): void {
    super.look(now)
    for (const [name, each] of [...this.capacities, ...this.latches]) this.found(name, each.look(now))
  }

  override finish(): void {
    super.finish()
    for (const [name, capacity] of this.capacities) this.found(name, capacity.finish())
  }

  capacity(name: string): Capacity {
    let capacity = this.capacities.get(name)
    if (!capacity) {
      const plan = this.objects.get(nameWithout(name)) as Extract<
        ObjectPlan,
        { kind: 'semaphore' | 'permits' }
      >
      capacity = new Capacity(name, plan.total, plan.kind === 'permits', this.disturbances, micros())
      this.capacities.set(name, capacity)
    }
    return capacity
  }

  latch(name: string): LatchJudge {
    let latch = this.latches.get(name)
    if (!latch) {
      const { count } = this.objects.get(nameWithout(name)) as Extract<ObjectPlan, { kind: 'latch' }>
      latch = new LatchJudge(name, count, this.disturbances, micros())
      this.latches.set(name, latch)
    }
    return latch
  }

  /** How much was judged that no section shows. */
  get judged(): Judged[] {
    const latches = [...this.latches.values()].reduce((sum, { generations }) => sum + generations, 0)
    return [
      ...[...this.queues.values()].map(({ name, witnesses }) => ({
        ...{ object: name, what: 'places in the queue', times: witnesses },
      })),
      ...[...this.tokens.values()].map(({ name, compared }) => ({
        ...{ object: name, what: 'tokens compared', times: compared },
      })),
      ...(latches > 0 ? [{ object: 'chaos:latch', what: 'times it was set', times: latches }] : []),
    ]
  }

  found(name: string, findings: readonly Finding[] = []): void {
    for (const { kind, at, what, worker } of findings) this.violation(kind, at, what, worker, { name })
  }

  private permits(record: EvidenceRecord) {
    const { entered, findings } = this.capacity(record.lock).record(record)
    if (entered) this.tally.entered({ ...entered, lock: nameWithout(record.lock) })
    this.found(record.lock, findings)
  }

  private leftToLease(name: string, at: number) {
    this.lock(name).leftToLeaseUntil = at + LEFT_TO_LEASE
  }
}
