import type { Judge } from '../evidence/judge'
import { micros } from '../evidence/records'
import { nameAt, type ObjectPlan } from '../plan/objects'
import type { Epochs } from '../worker/messages'
import type { Topology } from './topology'

const EVERY_MS = 200

/** Looks at the permits and counts in Redis. A look that fails says nothing. */
export class ObjectWatch {
  private timer: NodeJS.Timeout | undefined
  private looking = false

  constructor(
    private readonly topology: Topology,
    private readonly objects: readonly ObjectPlan[],
    private readonly judge: Judge,
    private readonly epochs: () => Epochs,
  ) {}

  start(): void {
    this.timer = setInterval(() => void this.look(), EVERY_MS)
  }

  stop(): void {
    clearInterval(this.timer)
  }

  private async look() {
    if (this.looking) return
    this.looking = true
    await Promise.all(this.objects.map((plan) => this.lookAt(plan).catch(() => {})))
    this.looking = false
  }

  private async lookAt({ kind, name: plain }: ObjectPlan) {
    const { withoutOwners, others } = this.epochs()
    const name = nameAt(plain, kind === 'semaphore' ? withoutOwners : others)
    const askedAt = micros()
    const read = async () => {
      if (kind === 'permits') return await permitsOf(this.topology, name)
      const value = numberOf(await this.topology.observer.get(name))
      // A latch that is open has no key.
      return { free: kind === 'latch' ? (value ?? 0) : value, out: [] }
    }
    if (kind === 'multi' || this.isMoved(askedAt)) return
    const { free, out } = await read()
    if (free !== undefined) this.judge.seen({ name, askedAt, answeredAt: micros(), owners: out, value: free })
  }

  /** Two keys that travel to another node may be seen one without the other. */
  private isMoved(at: number): boolean {
    return this.judge.disturbances.touching(undefined, at, at).some(({ kind }) => kind === 'move-slot')
  }
}

/** Both keys in one step. `expired`: permits that are out, but that the next call for this semaphore frees. */
export async function permitsOf(
  { observer }: Topology,
  name: string,
): Promise<{ free: number | undefined; out: readonly string[]; expired: number }> {
  const ends = `{${name}}:timeout`
  const answers = await observer
    .multi()
    .get(name)
    .zrange(ends, '0', '-1')
    .zcount(ends, '-inf', Date.now())
    .exec()
  const [[, free], [, out], [, expired]] = answers as [
    [Error | null, string | null],
    [Error | null, string[]],
    [Error | null, number],
  ]
  return { free: numberOf(free), out, expired }
}

const numberOf = (text: string | null): number | undefined => (text === null ? undefined : Number(text))
