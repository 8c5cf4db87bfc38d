import { setTimeout as sleep } from 'node:timers/promises'
import type { Flow, SubjectClient } from '../subjects/subject'
import { epochNow } from './epoch'
import type { ThroughputResult, ThroughputWork } from './protocol'

const ERROR_MESSAGES_KEPT = 3

/** Keeps a subject whose every call fails at once from filling the event loop. */
const PAUSE_AFTER_ERROR = 1

export function prepareThroughput(client: SubjectClient, work: ThroughputWork) {
  const locks = new Map(work.locks.map((name) => [name, { inside: 0, asked: 0, served: 0 }]))
  const flows = Array.from({ length: work.flows }, (_, index) => {
    const lock = work.locks[index % work.locks.length]!
    return { flow: client.flow(lock), lock: locks.get(lock)! }
  })
  return async (start: number): Promise<ThroughputResult> => {
    await sleep(Math.max(0, start - epochNow()))
    const counting = new Counting(work, client.exclusive)
    flows.forEach(({ flow, lock }, index) => {
      void counting.run(flow, lock, index)
    })
    await sleep(Math.max(0, counting.windowEnd - performance.now()))
    return counting.result()
  }
}

/** One lock as this process sees it. */
interface LockView {
  inside: number
  /** Who asked is numbered by that; the latest number. */
  asked: number
  /** The highest number that was let in so far. */
  served: number
}

class Counting {
  private readonly windowStart: number
  readonly windowEnd: number
  private readonly perFlow: number[]
  private readonly waitsUs: number[] = []
  private readonly waitingSince: (number | undefined)[]
  private lastSection = -1
  private errors = 0
  private readonly errorMessages: string[] = []
  private violations = 0
  private overtaken = 0

  constructor(
    private readonly work: ThroughputWork,
    private readonly exclusive: boolean,
  ) {
    this.windowStart = performance.now() + work.warmupMs
    this.windowEnd = this.windowStart + work.measureMs
    this.perFlow = new Array(work.flows).fill(0)
    this.waitingSince = new Array(work.flows).fill(undefined)
  }

  async run(flow: Flow, lock: LockView, index: number): Promise<void> {
    const { holdMs } = this.work
    while (performance.now() < this.windowEnd) {
      try {
        this.waitingSince[index] ??= performance.now()
        const number = ++lock.asked
        await flow.acquire()
        this.entered(index, number < lock.served)
        lock.served = Math.max(lock.served, number)
        if (lock.inside++ > 0 && this.exclusive) this.violations++
        if (holdMs > 0) await sleep(holdMs)
        lock.inside--
        await flow.release()
      } catch (error) {
        await this.failed(error)
      }
    }
  }

  /** To be called once, when the window has ended. */
  result(): ThroughputResult {
    for (const since of this.waitingSince)
      if (since !== undefined && since < this.windowEnd) this.keepWait(this.windowEnd - since)
    const { perFlow, waitsUs, errors, errorMessages, violations, overtaken } = this
    const sections = perFlow.reduce((sum, count) => sum + count, 0)
    const lastSectionAt = this.lastSection < 0 ? -1 : this.lastSection - this.windowStart
    return { sections, perFlow, waitsUs, lastSectionAt, errors, errorMessages, violations, overtaken }
  }

  private entered(index: number, overtaken: boolean): void {
    const now = performance.now()
    if (now >= this.windowEnd) return
    const since = this.waitingSince[index]!
    this.waitingSince[index] = undefined
    if (now < this.windowStart) return
    this.perFlow[index]!++
    if (overtaken) this.overtaken++
    this.lastSection = now
    this.keepWait(now - since)
  }

  private keepWait(ms: number): void {
    this.waitsUs.push(Math.round(ms * 1_000))
  }

  private async failed(error: unknown): Promise<void> {
    this.errors++
    if (this.errorMessages.length < ERROR_MESSAGES_KEPT) this.errorMessages.push(String(error))
    await sleep(PAUSE_AFTER_ERROR)
  }
}
