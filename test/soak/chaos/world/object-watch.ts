import { micros } from '../evidence/records'
import type { Court } from '../judges/court'
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
    private readonly court: Court,
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
    if (kind === 'latch') {
      const count = Number((await this.topology.observer.get(name)) ?? '0')
      this.court.latch(name).read({ askedAt, answeredAt: micros(), count })
    }
    if (kind === 'semaphore') {
      const free = await this.topology.observer.get(name)
      const reading = { askedAt, answeredAt: micros(), free: numberOf(free), out: undefined }
      this.court.capacity(name).read(reading)
    }
    if (kind === 'permits') {
      const { free, out } = await permitsOf(this.topology, name)
      this.court.capacity(name).read({ askedAt, answeredAt: micros(), free, out })
    }
  }
}

/** Both keys in one step. `expired`: permits that are out, but that the next call for this semaphore frees. */
export async function permitsOf(
  { observer }: Topology,
  name: string,
): Promise<{ free: number | undefined; out: number; expired: number }> {
  const ends = `{${name}}:timeout`
  const answers = await observer.multi().get(name).zcard(ends).zcount(ends, '-inf', Date.now()).exec()
  const [[, free], [, out], [, expired]] = answers as [
    [Error | null, string | null],
    [Error | null, number],
    [Error | null, number],
  ]
  return { free: numberOf(free), out, expired }
}

const numberOf = (text: string | null): number | undefined => (text === null ? undefined : Number(text))
