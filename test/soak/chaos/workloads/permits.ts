import { setTimeout as sleep } from 'node:timers/promises'
import type { RPermitExpirableSemaphore, RSemaphore } from '../../../../src/index'
import type { ObjectPlan } from '../plan/objects'
import type { Surroundings } from '../worker/caller'
import type { Turn } from '../worker/evidence-writer'
import { type Generation, Turns } from './turns'

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
    const entered = evidence.note('in', turn)
    if (!held.isHeld) tell()
    held.signal?.addEventListener('abort', tell, { once: true })
    await entered
    const long = lockWatchdogTimeout * (turn.lease === undefined ? 1.4 : 0.5)
    await sleep(this.random.chance(2) ? this.random.between(100, long) : this.random.between(0, 10))
    held.signal?.removeEventListener('abort', tell)
    if (held.isHeld) await evidence.note('out', turn)
    else tell()
  }
}

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
    await evidence.note('in', turn)
    await sleep(this.random.chance(10) ? this.random.between(50, 500) : this.random.between(0, 10))
    await evidence.note('out', turn)
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
