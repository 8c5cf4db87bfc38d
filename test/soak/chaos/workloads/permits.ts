import { setTimeout as sleep } from 'node:timers/promises'
import type { RPermitExpirableSemaphore } from '../../../../src/index'
import type { Turn } from '../worker/evidence-writer'
import { PermitTurns } from './permit-turns'

/** Shorter than a lease, by so much, a caller takes itself for the holder of permits that nothing renews. */
const MARGIN_MS = 500

/** What is held, and how it is released. */
interface Held {
  readonly signal?: AbortSignal
  readonly isHeld: boolean
  release(): Promise<void>
}

/** Takes permits that expire: one that renews itself, or some with a lease and by their ids. */
export class PermitsCaller extends PermitTurns {
  protected override async turn(): Promise<void> {
    const { generation, random } = this
    const name = generation.nameOf('permits', this.plan.name)
    const over = generation.signal
    const semaphore = this.around.redisson.getPermitExpirableSemaphore(name)
    if (!(await this.isSet(semaphore))) return
    const way = random.between(1, 100)
    const isLeased = way > 60 && way <= 80
    const lease = isLeased ? 2 * this.around.lockWatchdogTimeout : undefined
    const turn = this.next(name, 'p', { units: isLeased && random.chance(50) ? 2 : 1, lease })
    const signal = way > 90 ? AbortSignal.any([over, AbortSignal.timeout(random.between(0, 100))]) : over
    void this.around.evidence.note('want', turn)
    let held: Held | undefined
    try {
      if (way > 80 && way <= 90)
        held = await semaphore.tryAcquirePermit({ waitTime: random.between(0, 400), signal })
      else
        held = isLeased
          ? await this.leased(semaphore, turn, signal)
          : await semaphore.acquirePermit({ signal })
    } catch (error) {
      return await this.quit(turn, error, signal)
    }
    if (!held) return await this.quit(turn)
    await this.inside(turn, held)
    await this.released(turn, held.release())
  }

  private async leased(
    semaphore: RPermitExpirableSemaphore,
    { units = 1, lease: leaseTime = 0 }: Turn,
    signal: AbortSignal,
  ): Promise<Held | undefined> {
    const waitTime = this.random.between(0, 400)
    const asked = performance.now()
    const ids = await semaphore.acquire({ permits: units, leaseTime, waitTime, signal })
    if (!ids) return undefined
    return {
      get isHeld() {
        // From the last moment at which it may have been granted.
        return performance.now() - asked < leaseTime - MARGIN_MS
      },
      release: () => semaphore.release(ids),
    }
  }

  private async inside(turn: Turn, held: Held) {
    const { evidence, lockWatchdogTimeout } = this.around
    let reported = false
    const tell = () => {
      if (!reported) void evidence.note('lost', turn)
      reported = true
    }
    const entered = evidence.enter(turn)
    if (!held.isHeld) tell()
    held.signal?.addEventListener('abort', tell, { once: true })
    await entered
    const long = lockWatchdogTimeout * (turn.lease === undefined ? 1.4 : 0.5)
    await sleep(this.random.chance(2) ? this.random.between(100, long) : this.random.between(0, 10))
    held.signal?.removeEventListener('abort', tell)
    if (held.isHeld) await evidence.leave(turn, undefined)
    else tell()
  }
}
