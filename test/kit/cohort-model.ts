import { Cohort } from '../../src/waiting/cohort'
import { VirtualClock } from './virtual-clock'

/** One process of the model. */
export interface Party {
  /** How long a message to or from the server takes, in ms. */
  readonly distance: number
  /** How long it pauses between two sections, in ms; undefined: it only listens, and never acquires. */
  readonly pause?: number | undefined
  /** How many callers it has, which ask again at once. */
  readonly callers?: number
  /** Whether it takes turns. A Java peer does not. */
  readonly yields?: boolean
}

/** How long a step of a process or of the server takes at least, and at most how much longer, in ms. */
const STEP = 0.1
const JITTER = 0.4

/**
 * A model of processes before one lock: the messages and the answers of the server, and the cohorts of this package. Time is
 * virtual. Each message takes a little longer than its distance, by a number that is the same in each run.
 */
export class CohortModel {
  readonly sections: number[]
  private readonly clock = new VirtualClock()
  private readonly events: { at: number; run: () => void }[] = []
  private readonly processes: ModelProcess[]
  private isHeld = false
  private random = 1

  constructor(
    parties: readonly Party[],
    readonly sectionMs: number,
  ) {
    this.clock.advance(1_000_000)
    this.sections = parties.map(() => 0)
    this.processes = parties.map((party, index) => new ModelProcess(this, party, index, this.clock))
  }

  /** Lets so many ms pass; resolves with the sections of each process. */
  run(ms: number): readonly number[] {
    const end = this.now() + ms
    for (const process of this.processes) process.start()
    for (;;) {
      const next = this.events.shift()
      if (!next || next.at > end) return this.sections
      this.clock.advance(Math.max(0, next.at - this.now()))
      next.run()
    }
  }

  now(): number {
    return this.clock.now().monotonic
  }

  after(ms: number, run: () => void): { cancelled: boolean } {
    const event = { at: this.now() + ms, run: () => event.cancelled || run(), cancelled: false }
    const before = this.events.findLastIndex(({ at }) => at <= event.at)
    this.events.splice(before + 1, 0, event)
    return event
  }

  /** The time of a message or of a step. */
  time(ms: number): number {
    this.random = (this.random * 48_271) % 2_147_483_647
    return ms + STEP + (JITTER * this.random) / 2_147_483_647
  }

  /** The server executes the script of an acquisition. */
  acquire(): boolean {
    const isFree = !this.isHeld
    this.isHeld = true
    return isFree
  }

  /** The server executes a release, and answers how many processes it notified. */
  release(): number {
    this.isHeld = false
    for (const process of this.processes) this.after(this.time(process.distance), () => process.hear())
    return this.processes.length
  }
}

class ModelProcess {
  readonly distance: number
  private readonly cohort: Cohort
  private state: 'idle' | 'asleep' | 'yielding' | 'trying' | 'inside' = 'idle'
  private wakeUp: { cancelled: boolean } | undefined
  private heardWhileTrying = false

  constructor(
    private readonly model: CohortModel,
    private readonly party: Party,
    private readonly index: number,
    clock: VirtualClock,
  ) {
    this.distance = party.distance
    this.cohort = new Cohort(clock)
  }

  start(): void {
    if (this.party.pause !== undefined) this.model.after(this.index, () => this.ask())
  }

  hear(): void {
    this.cohort.hear()
    if (this.state === 'trying') this.heardWhileTrying = true
    if (this.state === 'asleep' || this.state === 'yielding') this.tryInTurn()
  }

  private ask() {
    this.tryInTurn()
  }

  private tryInTurn() {
    if (this.wakeUp) this.wakeUp.cancelled = true
    const back = this.party.yields === false ? 0 : this.cohort.yieldTime()
    this.state = 'yielding'
    if (back > 0) this.wakeUp = this.model.after(back, () => this.try())
    else this.try()
  }

  private try() {
    this.state = 'trying'
    this.heardWhileTrying = false
    this.model.after(this.model.time(this.distance), () => {
      const acquired = this.model.acquire()
      this.model.after(this.model.time(this.distance), () => (acquired ? this.enter() : this.blocked()))
    })
  }

  private blocked() {
    if (this.heardWhileTrying) return this.tryInTurn()
    this.state = 'asleep'
  }

  private enter() {
    this.state = 'inside'
    this.cohort.begin(true)
    this.work()
  }

  private work() {
    this.model.after(this.model.sectionMs, () => {
      this.model.sections[this.index]!++
      const mayPass = (this.party.callers ?? 1) > 1 && this.cohort.takeHandoff()
      if (mayPass) this.model.after(this.model.time(2 * this.distance), () => this.work())
      else this.leave()
    })
  }

  private leave() {
    this.cohort.release(true)
    this.state = 'idle'
    this.model.after(this.model.time(this.distance), () => {
      const notified = this.model.release()
      this.model.after(this.model.time(this.distance), () => {
        this.cohort.released(notified - 1)
        this.model.after(this.model.time(this.party.pause!), () => this.ask())
      })
    })
  }
}
