import type { Clock, Moment, Timer } from 'rlock/internal'
import type { Event, EventOwner, Timeline } from './trace'

/** How the clock of a process differs from the virtual time. */
export interface ClockSkew {
  /** How much faster it goes: 0.01 is one percent. */
  readonly drift?: number
  /** Its wall time at the begin, in ms. */
  readonly wall?: number
}

const A_DAY = 86_400_000

/** A process of the simulated world, with a clock of its own. Clients and callers live in one. */
export class SimulatedProcess implements Clock, EventOwner {
  isAlive = true
  private readonly rate: number
  private readonly origin: number
  private wall: number
  /** Set while it is suspended. */
  private waiting: Event[] | undefined
  /** For how long its monotonic clock stood still. */
  private stoodStill = 0
  private suspendedAt = 0
  private readonly onEnd: (() => void)[] = []

  constructor(
    readonly world: Timeline,
    readonly name: string,
    { drift = 0, wall = 0 }: ClockSkew = {},
  ) {
    this.rate = 1 + drift
    this.wall = A_DAY + wall
    // Two processes count their monotonic time from different moments.
    this.origin = world.choices.stream(`process ${name}`).fraction() * A_DAY
  }

  now(): Moment {
    const passed = this.passed()
    return { monotonic: this.origin + passed - this.stoodStill, wall: this.wall + passed }
  }

  elapsedSince(moment: Moment): number {
    const { monotonic, wall } = this.now()
    return Math.max(monotonic - moment.monotonic, wall - moment.wall)
  }

  after(delay: number, callback: () => void): Timer {
    const ms = Math.max(0, Math.ceil(delay)) / this.rate
    // Events happen outside of requests: the world runs all of them there.
    const event = this.world.in(ms, this, callback)
    return { cancel: () => this.world.cancel(event) }
  }

  /** Resolves after this many ms by its clock; never if the process is killed. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.world.in(Math.max(0, ms) / this.rate, this, resolve)
    })
  }

  /** Sets its wall clock forward, or back. */
  stepWallClock(ms: number): void {
    this.wall += ms
  }

  get isSuspended(): boolean {
    return this.waiting !== undefined
  }

  /**
   * Stops the process for this many ms of virtual time. What happens to it meanwhile waits. `asleep`: as a suspended machine,
   * whose monotonic clock stands still.
   */
  suspend(ms: number, asleep = false): void {
    if (!this.isAlive || this.waiting) return
    this.waiting = []
    this.suspendedAt = this.world.time
    this.world.in(ms, undefined, () => {
      if (asleep) this.stoodStill += (this.world.time - this.suspendedAt) * this.rate
      const waiting = this.waiting ?? []
      this.waiting = undefined
      // A process that goes on handles its timers and its sockets in an order of its own, but each of them in order.
      for (const event of waiting) this.world.in(0, this, () => event.run?.())
    })
  }

  /** Takes an event that happens while the process is suspended. False: it can happen now. */
  keeps(event: Event): boolean {
    this.waiting?.push(event)
    return this.waiting !== undefined
  }

  /** Nothing of the process runs again. */
  kill(): void {
    if (!this.isAlive) return
    this.isAlive = false
    this.waiting = undefined
    for (const ended of this.onEnd.splice(0)) ended()
  }

  /** Calls back when the process is killed: its sockets close. */
  onKilled(callback: () => void): void {
    this.onEnd.push(callback)
  }

  /** By its clock, without the time at which it began. */
  private passed(): number {
    return this.world.time * this.rate
  }
}
