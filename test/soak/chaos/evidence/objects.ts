import type { ObjectKind, SimulatedObject } from '../../../../tools/simulator/judge/history'
import { type LockKind, nameWithout, type Plans } from '../plan/objects'
import type { Side } from './records'

const KINDS: Readonly<Record<Exclude<LockKind, 'readWrite'>, ObjectKind>> = {
  ...{ lock: 'lock', fair: 'fair', fenced: 'fenced', spin: 'spin', token: 'token' },
  ...{ nonReentrant: 'non-reentrant', nonReentrantFair: 'non-reentrant-fair' },
}

/** What takes part in a run, as the judge knows it. */
export class JudgedObjects {
  private readonly known = new Map<string, SimulatedObject>()

  constructor(private readonly plans: Plans) {}

  get all(): readonly SimulatedObject[] {
    return [...this.known.values()]
  }

  /** What a turn is about. The caller of a multi lock says by its number which members it wants. */
  of(name: string, side: Side, caller: string): SimulatedObject {
    const plan = this.planOf(name)
    const isSeveral = plan?.kind === 'multi'
    const key = isSeveral ? caller : `${name} ${side === 'r'}`
    let object = this.known.get(key)
    if (!object) {
      object = isSeveral
        ? this.several(plan.name, plan.groups[Number(caller.split('/')[1]) - 1]!)
        : this.one(name, side)
      this.known.set(key, object)
    }
    return object
  }

  /** How many permits there are, or how often a latch is counted down. */
  unitsOf(name: string): number {
    const plan = this.planOf(name)
    if (plan?.kind === 'latch') return plan.count
    return plan && 'total' in plan ? plan.total : 1
  }

  isCounter(name: string): boolean {
    return ['semaphore', 'permits', 'latch'].includes(this.planOf(name)?.kind ?? '')
  }

  private one(name: string, side: Side): SimulatedObject {
    const lock = this.plans.locks.find((each) => each.name === name)
    if (lock?.kind === 'readWrite') return { kind: side === 'r' ? 'read' : 'write', name }
    return { kind: lock ? KINDS[lock.kind] : (this.planOf(name)?.kind ?? 'lock'), name }
  }

  private several(name: string, members: readonly string[]): SimulatedObject {
    return { kind: 'multi', name, members: members.map((member) => ({ kind: 'lock', name: member })) }
  }

  private planOf(name: string) {
    return this.plans.objects.find((each) => each.name === nameWithout(name))
  }
}
