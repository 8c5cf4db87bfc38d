import { setTimeout as sleep } from 'node:timers/promises'
import type { LockHold } from '../../../../src/index'
import type { ObjectPlan } from '../plan/objects'
import type { Surroundings } from '../worker/caller'
import { release } from '../worker/section'
import { Turns } from './turns'

/**
 * Takes several locks as one. It waits under the name of the plan, and is inside of each member: so the judge knows both
 * whether the members exclude all others, and whether those that want several come in at all.
 */
export class MultiCaller extends Turns {
  constructor(
    around: Surroundings,
    name: string,
    private readonly plan: Extract<ObjectPlan, { kind: 'multi' }>,
    private readonly members: readonly string[],
    seed: number,
  ) {
    super(around, name, seed)
  }

  protected override pauseMs(): number {
    return this.random.between(0, 20)
  }

  protected override async turn(): Promise<void> {
    const { redisson, evidence } = this.around
    const lock = redisson.getMultiLock(...this.members.map((member) => redisson.getLock(member)))
    const whole = this.next(this.plan.name, 'r')
    const way = this.random.between(1, 100)
    const signal = way > 90 ? AbortSignal.timeout(this.random.between(0, 150)) : undefined
    void evidence.note('want', whole)
    let hold: LockHold | undefined
    try {
      hold =
        way <= 70
          ? await lock.acquire()
          : way <= 90
            ? await lock.tryAcquire({ waitTime: this.random.between(0, 400) })
            : await lock.acquire({ signal: signal! })
    } catch (error) {
      return await this.quit(whole, error)
    }
    if (!hold) return await this.quit(whole)
    void evidence.note('in', whole)
    await this.inside(hold)
    await release(evidence, whole, hold)
    for (const turn of this.turnsOf(whole.turn)) void evidence.note('free', turn, { ok: true })
  }

  private async inside(hold: LockHold) {
    const { evidence } = this.around
    const turns = this.turnsOf(0)
    let reported = false
    const tell = () => {
      if (!reported) for (const turn of turns) void evidence.note('lost', turn)
      reported = true
    }
    const entered = Promise.all(turns.map((turn) => evidence.enter(turn)))
    if (hold.signal.aborted) tell()
    hold.signal.addEventListener('abort', tell, { once: true })
    const counters = await entered
    await sleep(this.random.chance(10) ? this.random.between(100, 500) : this.random.between(0, 4))
    hold.signal.removeEventListener('abort', tell)
    if (hold.isHeld) await Promise.all(turns.map((turn, at) => evidence.leave(turn, counters[at]! + 1)))
    else tell()
  }

  private turnsOf(turn: number) {
    return this.members.map((lock) => ({ ...this.next(lock, 'm'), turn }))
  }
}
