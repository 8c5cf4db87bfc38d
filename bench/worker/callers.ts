import { setTimeout as sleep } from 'node:timers/promises'
import type { Caller, SubjectClient } from '../subjects/subject'
import { epochNow } from './epoch'
import type { CallersResult, CallersWork } from './protocol'

const ERROR_MESSAGES_KEPT = 3

/** Keeps a subject whose every call fails at once from filling the event loop. */
const PAUSE_AFTER_ERROR = 1

/** What a writer, or the holder of a plain lock, counts for: more than readers could ever add up to. */
const ALONE = 1 << 20

/** One way into a lock, and what a caller that is inside by it counts for. */
interface Way {
  readonly caller: Caller
  readonly weight: number
}

/** One lock as this process sees it. */
interface LockView {
  /** What those inside count for, all in all. */
  inside: number
  /** Each caller that asks is numbered by that; the latest number. */
  asked: number
  /** The highest number that was let in so far. */
  served: number
}

export function prepareCallers(client: SubjectClient, work: CallersWork) {
  const views = new Map<string, LockView>(
    work.locks.map((name) => [name, { inside: 0, asked: 0, served: 0 }]),
  )
  const callers = Array.from({ length: work.callers }, (_, index) => {
    const name = work.locks[index % work.locks.length]!
    return { wayOf: waysOf(client, work, name, index), view: views.get(name)! }
  })
  return async (start: number): Promise<CallersResult> => {
    await sleep(Math.max(0, start - epochNow()))
    const counting = new Counting(work, client.exclusive)
    callers.forEach(({ wayOf, view }, index) => {
      void counting.run(wayOf, view, index)
    })
    await sleep(Math.max(0, counting.windowStart - performance.now()))
    const before = process.cpuUsage()
    await sleep(Math.max(0, counting.windowEnd - performance.now()))
    const { user, system } = process.cpuUsage(before)
    return { ...counting.result(), cpuSeconds: (user + system) / 1e6 }
  }
}

function waysOf(
  client: SubjectClient,
  work: CallersWork,
  name: string,
  index: number,
): (turn: number) => Way {
  if (work.scenario === 'throughput') {
    const way = { caller: client.caller(name), weight: Math.floor(ALONE / (work.permits ?? 1)) }
    return () => way
  }
  if (!client.readWriteCaller) throw new Error(`${work.subject} has no read-write locks`)
  const { read, write } = client.readWriteCaller(name)
  const [reading, writing] = [
    { caller: read, weight: 1 },
    { caller: write, weight: ALONE },
  ]
  const { readers, writers } = work
  return (turn) => ((turn + index) % (readers + writers) < readers ? reading : writing)
}

class Counting {
  readonly windowStart: number
  readonly windowEnd: number
  private readonly perCaller: number[]
  private readonly waitsUs: number[] = []
  private readonly waitingSince: (number | undefined)[]
  private lastSection = -1
  private errors = 0
  private readonly errorMessages: string[] = []
  private violations = 0
  private overtaken = 0

  constructor(
    private readonly work: CallersWork,
    private readonly exclusive: boolean,
  ) {
    this.windowStart = performance.now() + work.warmupMs
    this.windowEnd = this.windowStart + work.measureMs
    this.perCaller = new Array(work.callers).fill(0)
    this.waitingSince = new Array(work.callers).fill(undefined)
  }

  async run(wayOf: (turn: number) => Way, view: LockView, index: number): Promise<void> {
    const { holdMs } = this.work
    for (let turn = 0; performance.now() < this.windowEnd; turn++) {
      const { caller, weight } = wayOf(turn)
      try {
        this.waitingSince[index] ??= performance.now()
        const number = ++view.asked
        await caller.acquire()
        this.entered(index, number < view.served)
        view.served = Math.max(view.served, number)
        if (this.exclusive && isViolated(view.inside, weight)) this.violations++
        view.inside += weight
        if (holdMs > 0) await sleep(holdMs)
        view.inside -= weight
        await caller.release()
      } catch (error) {
        await this.failed(error)
      }
    }
  }

  /** To be called once, when the window has ended. */
  result(): CallersResult {
    for (const since of this.waitingSince)
      if (since !== undefined && since < this.windowEnd) this.keepWait(this.windowEnd - since)
    const { perCaller, waitsUs, errors, errorMessages, violations, overtaken } = this
    const sections = perCaller.reduce((sum, count) => sum + count, 0)
    const lastSectionAt = this.lastSection < 0 ? -1 : this.lastSection - this.windowStart
    return { sections, perCaller, waitsUs, lastSectionAt, errors, errorMessages, violations, overtaken }
  }

  private entered(index: number, overtaken: boolean): void {
    const now = performance.now()
    if (now >= this.windowEnd) return
    const since = this.waitingSince[index]!
    this.waitingSince[index] = undefined
    if (now < this.windowStart) return
    this.perCaller[index]!++
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

function isViolated(inside: number, weight: number): boolean {
  return inside + weight > ALONE
}
