import { setTimeout as sleep } from 'node:timers/promises'
import type { MultiLockHold } from '../../../../src/index'
import type { ObjectPlan } from '../plan/objects'
import type { Surroundings } from '../worker/caller'
import { release } from '../worker/caller'
import type { Turn } from '../worker/evidence-writer'
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
    let hold: MultiLockHold | undefined
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

  /** Where one member is lost the whole is, and the others are still held until they are released. */
  private async inside(hold: MultiLockHold) {
    const { evidence } = this.around
    const turns = this.turnsOf(0)
    const reported = new Set<Turn>()
    const tell = () => {
      for (const turn of turns) {
        const isHeld = hold.holds.some(({ lockName, isHeld: held }) => held && lockName === turn.lock)
        if (!isHeld && !reported.has(turn)) void evidence.note('lost', turn)
        if (!isHeld) reported.add(turn)
      }
    }
    const entered = Promise.all(turns.map((turn) => evidence.enter(turn)))
    if (hold.signal.aborted) tell()
    hold.signal.addEventListener('abort', tell, { once: true })
    const counters = await entered
    await sleep(this.random.chance(10) ? this.random.between(100, 500) : this.random.between(0, 4))
    hold.signal.removeEventListener('abort', tell)
    const { isHeld } = hold
    if (!isHeld) tell()
    const left = turns.filter((turn) => !reported.has(turn))
    const values = (turn: Turn) => (isHeld ? counters[turns.indexOf(turn)]! + 1 : undefined)
    await Promise.all(left.map((turn) => evidence.leave(turn, values(turn))))
  }

  private turnsOf(turn: number) {
    return this.members.map((lock) => ({ ...this.next(lock, 'm'), turn }))
  }
}
