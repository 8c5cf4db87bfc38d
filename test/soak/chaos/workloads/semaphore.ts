import { setTimeout as sleep } from 'node:timers/promises'
import type { RSemaphore } from '../../../../src/index'
import type { Turn } from '../worker/evidence-writer'
import { PermitTurns } from './permit-turns'

/** Takes one or two permits of a semaphore, in all the ways there are. */
export class SemaphoreCaller extends PermitTurns {
  protected override async turn(): Promise<void> {
    const { plan, generation, random } = this
    const over = generation.signal
    const name = generation.nameOf('semaphore', plan.name)
    const semaphore = this.around.redisson.getSemaphore(name)
    if (!(await this.isSet(semaphore))) return
    const units = random.chance(25) ? 2 : 1
    const turn = this.next(name, 'p', { units })
    const way = random.between(1, 100)
    const signal = way > 88 ? AbortSignal.any([over, AbortSignal.timeout(random.between(0, 100))]) : over
    await this.around.evidence.note('want', turn)
    try {
      if (way <= 30) return await this.withPermits(semaphore, turn, units, signal)
      if (way > 60 && way <= 88) {
        const waitTime = random.between(0, 400)
        if (!(await semaphore.tryAcquire({ permits: units, waitTime, signal }))) return await this.quit(turn)
      } else await semaphore.acquire({ permits: units, signal })
    } catch (error) {
      return await this.quit(turn, error, signal)
    }
    await this.inside(turn)
    await this.released(turn, this.releaseAtLast(semaphore, units))
  }

  private async withPermits(semaphore: RSemaphore, turn: Turn, permits: number, signal: AbortSignal) {
    let isIn = false
    const work = async () => {
      isIn = true
      await this.inside(turn)
    }
    const done = semaphore.withPermits(work, { permits, signal })
    try {
      await done
    } catch (error) {
      if (!isIn) throw error
    }
    await this.released(turn, done)
  }

  private async inside(turn: Turn) {
    const { evidence } = this.around
    await evidence.enter(turn)
    await sleep(this.random.chance(10) ? this.random.between(50, 500) : this.random.between(0, 10))
    await evidence.leave(turn, undefined)
  }

  /** What the server refuses is not tried again in the background: that is for the caller to do. */
  private async releaseAtLast(semaphore: RSemaphore, permits: number): Promise<void> {
    while (true)
      try {
        return await semaphore.release(permits)
      } catch (error) {
        if ((error as { code?: string }).code !== 'REDIS_REFUSED') throw error
        await sleep(100)
      }
  }
}
