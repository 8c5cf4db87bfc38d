import { setTimeout as sleep } from 'node:timers/promises'
import { micros } from '../evidence/records'
import type { ObjectPlan } from '../plan/objects'
import type { Surroundings } from '../worker/caller'
import type { Turn } from '../worker/evidence-writer'
import type { Generation } from './turns'
import { Turns } from './turns'

export type LatchRole = 'sets' | 'counts' | 'awaits'

const PERIOD = 15_000_000
const OPEN_FOR = 5_000_000

/** For some time in each quarter of a minute no process sets it: who sleeps on before an open latch shows. */
const leavesOpen = (): boolean => micros() % PERIOD < OPEN_FOR

/** One caller that sets a latch, counts it down or waits for it. Each begin is on record before it can have an effect. */
export class LatchCaller extends Turns {
  constructor(
    around: Surroundings,
    name: string,
    private readonly plan: Extract<ObjectPlan, { kind: 'latch' }>,
    private readonly role: LatchRole,
    private readonly generation: Generation,
    seed: number,
  ) {
    super(around, name, seed)
  }

  protected override pauseMs(): number {
    if (this.role === 'awaits') return this.random.between(0, 20)
    // Seldom enough that few are under way at once: a count too many shows beside them.
    return this.role === 'sets' ? this.random.between(50, 400) : this.random.between(0, 120)
  }

  protected override async turn(): Promise<void> {
    const { generation, plan, role } = this
    const over = generation.end
    const name = generation.nameOf('latch', plan.name)
    const latch = this.around.redisson.getCountDownLatch(name)
    if (role === 'sets' && leavesOpen()) return
    if (role === 'sets') return await this.change(this.next(name, 's'), () => latch.trySetCount(plan.count))
    if (role === 'counts') return await this.change(this.next(name, 'd'), () => latch.countDown())
    const { random } = this
    const turn = this.next(name, 'a')
    const waitTime = random.chance(20) ? random.between(0, 500) : undefined
    const signal = random.chance(5)
      ? AbortSignal.any([over, AbortSignal.timeout(random.between(0, 100))])
      : over
    await this.around.evidence.note('want', turn)
    try {
      if (await latch.await({ waitTime, signal })) await this.around.evidence.note('in', turn)
      else await this.quit(turn)
    } catch (error) {
      await this.quit(turn, error, signal)
    }
  }

  private async change(turn: Turn, change: () => Promise<boolean | void>) {
    await this.around.evidence.note('want', turn)
    try {
      const done = await change()
      await this.around.evidence.note('free', turn, { ok: done !== false })
    } catch (error) {
      // It may have been applied, or be applied later.
      await this.quit(turn, error)
      await sleep(50)
    }
  }
}
