import type { MultiLockHold } from '../../../../src/index'
import type { ObjectPlan } from '../plan/objects'
import type { Surroundings } from '../worker/caller'
import { release, section } from '../worker/caller'
import { Turns } from './turns'

/** Takes several locks as one. Its records have the name of the plan; the number of the caller says which members it takes. */
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
    const turn = this.next(this.plan.name, 'x')
    const way = this.random.between(1, 100)
    const signal = way > 90 ? AbortSignal.timeout(this.random.between(0, 150)) : undefined
    void evidence.note('want', turn)
    let hold: MultiLockHold | undefined
    try {
      hold =
        way <= 70
          ? await lock.acquire()
          : way <= 90
            ? await lock.tryAcquire({ waitTime: this.random.between(0, 400) })
            : await lock.acquire({ signal: signal! })
    } catch (error) {
      return await this.quit(turn, error)
    }
    if (!hold) return await this.quit(turn)
    await section(
      evidence,
      turn,
      hold,
      this.random.chance(10) ? this.random.between(100, 500) : this.random.between(0, 4),
    )
    await release(evidence, turn, hold)
  }
}
