import { setTimeout as sleep } from 'node:timers/promises'
import type { LockHold, Redisson } from '../../../../src/index'
import { Random } from '../../../kit/random'
import type { Side } from '../evidence/records'
import type { LockPlan } from '../plan/objects'
import type { EvidenceWriter, Turn } from './evidence-writer'
import { type AnyLock, lockOf, refusesReentry } from './locks'

/** One critical section: comes in, stays, looks, and goes unless the lock was lost; records each step. Does not release. */
export async function section(
  evidence: EvidenceWriter,
  turn: Turn,
  hold: LockHold,
  holdMs: number,
): Promise<void> {
  let reported = false
  const tell = () => {
    if (!reported) evidence.note('lost', turn)
    reported = true
  }
  const { token } = hold as { readonly token?: number }
  const entered = evidence.note('in', { ...turn, token, owner: hold.owner })
  if (hold.signal.aborted) tell()
  hold.signal.addEventListener('abort', tell, { once: true })
  await entered
  await sleep(holdMs)
  hold.signal.removeEventListener('abort', tell)
  if (hold.isHeld) await evidence.note('out', turn)
  else tell()
}

/** Releases, and records how that went. */
export async function release(evidence: EvidenceWriter, turn: Turn, hold: LockHold): Promise<void> {
  try {
    await hold.unlock()
    evidence.note('free', turn, { ok: true })
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    evidence.note('free', turn, { ok: false, error: code ?? message })
  }
}

/** What the callers of a worker share. */
export interface Surroundings {
  readonly redisson: Redisson
  readonly evidence: EvidenceWriter
  readonly lockWatchdogTimeout: number
  readonly stopping: () => boolean
  readonly failed: (error: unknown) => void
}

const PAUSE_MS = 20
const READERS_PAUSE_MS = 100
const SHORT_HOLD_MS = 4
const HOT_HOLD_MS = [3, 7] as const
/** One hold in so many outlasts its lease and lives by renewals. */
const LONG_HOLD_ONE_IN = 3_000

/** Takes one lock again and again, in all the ways there are. */
export class Caller {
  private readonly random: Random
  private turns = 0

  constructor(
    private readonly around: Surroundings,
    private readonly name: string,
    private readonly plan: LockPlan,
    private readonly side: Side,
    seed: number,
    private readonly lock: AnyLock = lockOf(around.redisson, plan, side),
  ) {
    this.random = new Random(seed)
  }

  async run(): Promise<void> {
    while (!this.around.stopping()) {
      await this.turn()
      // Readers that overlap for ever would keep every writer out.
      const pause = this.random.between(0, this.longestPause())
      if (pause > 0) await sleep(pause)
    }
  }

  private async turn() {
    const way = this.random.between(1, 100)
    if (way <= 62) return await this.once(this.plan.lease, (lease) => this.lock.acquire(lease))
    if (way <= 72) return await this.once(this.plan.lease ?? 10_000, (lease) => this.lock.acquire(lease))
    if (way <= 84) return await this.tried()
    if (way <= 92) return await this.aborted()
    await this.around.redisson.run(() => {
      if (this.side === 'w') return this.steppedDown()
      return refusesReentry(this.plan) ? this.refused() : this.nested()
    })
  }

  private tried() {
    const waitTime = this.random.between(0, 400)
    return this.once(this.plan.lease, (lease) => this.lock.tryAcquire({ ...lease, waitTime }))
  }

  private aborted() {
    const signal = AbortSignal.timeout(this.random.between(0, 150))
    return this.once(this.plan.lease, (lease) => this.lock.acquire({ ...lease, signal }))
  }

  private async nested() {
    await this.once(this.plan.lease, async (lease) => {
      const outer = await this.lock.acquire(lease)
      try {
        const inner = await this.lock.acquire(lease)
        await inner.unlock()
      } catch (error) {
        this.around.failed(error)
      }
      if (outer.isHeld) return outer
      // Lost while the inner call was under way: it never comes to a section.
      await outer.unlock().catch(() => {})
      return undefined
    })
  }

  /** Asked again by its holder it refuses at once, and the hold stays what it is. */
  private async refused() {
    await this.once(this.plan.lease, async (lease) => {
      const outer = await this.lock.acquire(lease)
      try {
        const inner = await this.lock.acquire(lease)
        if (outer.isHeld)
          this.around.failed(new Error(`${this.plan.name} was re-entered, and it must not be`))
        await inner.unlock()
      } catch (error) {
        // Lost meanwhile, it is no longer held and may refuse for that reason.
        if ((error as { code?: string }).code !== 'ILLEGAL_MONITOR_STATE') this.around.failed(error)
      }
      if (outer.isHeld) return outer
      await outer.unlock().catch(() => {})
      return undefined
    })
  }

  /** A writer goes on as a reader without letting another writer in between. */
  private async steppedDown() {
    const { evidence } = this.around
    const writing = await this.begin(this.plan.lease, (lease) => this.lock.acquire(lease))
    if (!writing) return
    await section(evidence, writing.turn, writing.hold, this.holdMs())
    const reading = this.next('r', this.plan.lease)
    evidence.note('want', reading)
    let reader: LockHold | undefined
    try {
      reader = await lockOf(this.around.redisson, this.plan, 'r').acquire(leaseOption(this.plan.lease))
    } catch (error) {
      this.quit(reading, error)
    }
    await release(evidence, writing.turn, writing.hold)
    if (!reader) return
    if (!reader.isHeld) {
      // Lost while the release of the write hold was in flight: it never comes to a section.
      this.quit(reading)
      await reader.unlock().catch(() => {})
      return
    }
    await section(evidence, reading, reader, this.holdMs())
    await release(evidence, reading, reader)
  }

  private async once(
    lease: number | undefined,
    acquire: (lease: { leaseTime?: number }) => Promise<LockHold | undefined>,
  ) {
    const begun = await this.begin(lease, acquire)
    if (!begun) return
    await section(this.around.evidence, begun.turn, begun.hold, this.holdMs(lease))
    await release(this.around.evidence, begun.turn, begun.hold)
  }

  private async begin(
    lease: number | undefined,
    acquire: (lease: { leaseTime?: number }) => Promise<LockHold | undefined>,
  ): Promise<{ turn: Turn; hold: LockHold } | undefined> {
    const turn = this.next(this.side, lease)
    this.around.evidence.note('want', turn)
    try {
      const hold = await acquire(leaseOption(lease))
      if (hold) return { turn, hold }
      this.quit(turn)
    } catch (error) {
      this.quit(turn, error)
      // An unreachable server must not turn the loop into a busy one.
      await sleep(50)
    }
    return undefined
  }

  private quit(turn: Turn, error?: unknown) {
    if (error === undefined) return void this.around.evidence.note('quit', turn)
    const { name, code, message } = error as { name?: string; code?: string | number; message: string }
    this.around.evidence.note('quit', turn, { error: `${code ?? name}: ${message}` })
    if (name !== 'TimeoutError') this.around.failed(error)
  }

  private next(side: Side, lease: number | undefined): Turn {
    return { caller: this.name, lock: this.plan.name, side, turn: ++this.turns, lease }
  }

  private longestPause(): number {
    if (this.plan.pause !== undefined) return this.plan.pause
    if (this.plan.slow) return this.around.lockWatchdogTimeout
    if (this.plan.hot) return 0
    return this.side === 'r' ? READERS_PAUSE_MS : PAUSE_MS
  }

  private holdMs(lease?: number): number {
    const { lockWatchdogTimeout } = this.around
    if (this.plan.slow)
      return this.random.between(
        lockWatchdogTimeout / 10,
        lockWatchdogTimeout * (lease === undefined ? 1.5 : 0.7),
      )
    if (lease === undefined && this.random.between(1, LONG_HOLD_ONE_IN) === 1)
      return lockWatchdogTimeout * 1.4
    if (this.plan.hot) return this.random.between(...HOT_HOLD_MS)
    return this.random.chance(2) ? this.random.between(20, 100) : this.random.between(0, SHORT_HOLD_MS)
  }
}

function leaseOption(leaseTime: number | undefined): { leaseTime?: number } {
  return leaseTime === undefined ? {} : { leaseTime }
}
