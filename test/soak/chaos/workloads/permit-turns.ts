import { setTimeout as sleep } from 'node:timers/promises'
import type { ObjectPlan } from '../plan/objects'
import type { Surroundings } from '../worker/caller'
import type { Turn } from '../worker/evidence-writer'
import type { Generation } from './generation'
import { Turns } from './turns'

/** What both kinds of semaphores have to be set up. */
interface Settable {
  getName(): string
  trySetPermits(permits: number): Promise<boolean>
}

/** What the callers of both kinds of semaphores have in common. */
export abstract class PermitTurns extends Turns {
  private known = ''

  constructor(
    around: Surroundings,
    name: string,
    protected readonly plan: Extract<ObjectPlan, { kind: 'semaphore' | 'permits' }>,
    protected readonly generation: Generation,
    seed: number,
  ) {
    super(around, name, seed)
  }

  protected override pauseMs(): number {
    return this.random.between(0, 20)
  }

  /** Whether the semaphore has its permits; sets them where that is not known. */
  protected async isSet(semaphore: Settable): Promise<boolean> {
    if (this.known === semaphore.getName()) return true
    try {
      await semaphore.trySetPermits(this.plan.total)
      this.known = semaphore.getName()
      return true
    } catch (error) {
      this.around.failed(error)
      await sleep(50)
      return false
    }
  }

  /** Notes what became of a release. */
  protected async released(turn: Turn, release: Promise<unknown>): Promise<void> {
    const { evidence, failed } = this.around
    try {
      await release
      await evidence.note('free', turn, { ok: true })
    } catch (error) {
      const { code, message } = error as { code?: string; message: string }
      await evidence.note('free', turn, { ok: false, error: code ?? message })
      failed(error)
    }
  }
}
