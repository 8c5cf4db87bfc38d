import { type Clock, outsideRequests, processState, systemClock } from 'rlock/internal'
import { Choices, type Stream } from './choices'
import { EventQueue } from './event-queue'
import { type ClockSkew, SimulatedProcess } from './process'
import type { Event, EventOwner, Scheduler, Timeline } from './trace'
import { Trace } from './trace'

/** What went wrong in a run apart from what its code found: an exception without a handler, real time that was asked for. */
export interface Mishap {
  readonly at: number
  readonly error: Error
}

export interface WorldOptions {
  readonly seed: number
  /** Records the choices and the whole trace; slower. */
  readonly isRecorded?: boolean
  readonly leftOut?: ReadonlySet<string>
  readonly scheduler?: Scheduler | undefined
}

/** `stopped`: by its scheduler. `restless`: so many events have happened that it does not come to rest. */
export type End = 'done' | 'stuck' | 'late' | 'stopped' | 'restless'

/** Node runs what promises and `process.nextTick` have to do by this function. Other runtimes may not have it. */
const { _tickCallback: runTicks } = process as { _tickCallback?: () => void }

/**
 * One random source and one queue of events over virtual time. Nothing else decides what happens: code that asks for the real
 * time, a real timer or real randomness meanwhile is refused, and the run fails.
 */
export class World implements Timeline {
  readonly choices: Choices
  readonly trace: Trace
  readonly mishaps: Mishap[] = []
  time = 0
  /** How many events have happened. */
  events = 0
  private readonly queue = new EventQueue()
  private readonly ids: Stream
  private nextThreadId = 1

  private readonly scheduler: Scheduler | undefined

  constructor({ seed, isRecorded, leftOut, scheduler }: WorldOptions) {
    this.scheduler = scheduler
    this.choices = new Choices(seed, isRecorded, leftOut)
    this.trace = new Trace(isRecorded)
    this.ids = this.choices.stream('ids')
  }

  process(name: string, skew?: ClockSkew): SimulatedProcess {
    return new SimulatedProcess(this, name, skew)
  }

  in(ms: number, process: EventOwner | undefined, run: () => void): Event {
    return this.queue.plan(this.time + ms, process, run)
  }

  at(time: number, process: EventOwner | undefined, run: () => void): Event {
    return this.queue.plan(Math.max(time, this.time), process, run)
  }

  get isScheduled(): boolean {
    return this.scheduler !== undefined
  }

  between(
    earliest: number,
    latest: number,
    process: EventOwner | undefined,
    chain: unknown,
    run: () => void,
  ) {
    return this.queue.plan(earliest, process, run, latest, chain)
  }

  cancel(event: Event): void {
    this.queue.cancel(event)
  }

  /** @internal How many events of this process are planned. */
  plannedFor(process: SimulatedProcess): number {
    let planned = 0
    for (const event of this.queue) if (event.process === process) planned++
    return planned
  }

  /** Notes what code that the run cannot repeat has done. */
  failed(error: unknown): void {
    this.mishaps.push({ at: this.time, error: error instanceof Error ? error : new Error(String(error)) })
  }

  /**
   * Runs `main` and all that it causes, until it has settled, nothing is left to happen, or the virtual time is over. Resolves
   * with what became of it.
   */
  async run(
    main: () => Promise<void>,
    longest = Number.POSITIVE_INFINITY,
    mostEvents = Number.POSITIVE_INFINITY,
  ): Promise<End> {
    // A macrotask: there no promise callback runs, so the loop can run all of them after each event.
    await new Promise<void>((resolve) => setImmediate(resolve))
    return await new Promise((resolve) => {
      setImmediate(() => outsideRequests(() => this.loop(main, longest, mostEvents, resolve)))
    })
  }

  private loop(main: () => Promise<void>, longest: number, mostEvents: number, resolve: (end: End) => void) {
    let isDone = false
    this.at(0, undefined, () => {
      main()
        .catch((error) => this.failed(error))
        .finally(() => {
          isDone = true
        })
    })
    const step = (): End | undefined => {
      if (isDone) return 'done'
      if (this.events >= mostEvents) return 'restless'
      if (this.scheduler && this.queue.size === 0) return 'stuck'
      const event = this.scheduler ? this.scheduled(this.scheduler) : this.queue.take()
      if (!event) return this.scheduler ? 'stopped' : 'stuck'
      if (event.time > longest) return 'late'
      this.time = Math.max(this.time, event.time)
      this.happen(event)
      return undefined
    }
    if (runTicks) resolve(this.inside(() => loopSync(step, runTicks, this)))
    else void loopAsync(step, this).then(resolve)
  }

  private scheduled(scheduler: Scheduler): Event | undefined {
    const event = scheduler.choose(this.queue.possible())
    if (event) this.queue.remove(event)
    return event
  }

  private happen(event: Event) {
    const { process, run } = event
    if (process && (!process.isAlive || process.keeps(event))) return
    this.events++
    try {
      run?.()
    } catch (error) {
      this.failed(error)
    }
  }

  /** Runs `fn` while the package takes its randomness and its thread ids from this world. */
  inside<T>(fn: () => T): T {
    const leave = this.enter()
    try {
      return fn()
    } finally {
      leave()
    }
  }

  /** @internal */
  enter(): () => void {
    const state = processState
    const before = { simulated: state.simulated, nextThreadId: state.nextThreadId }
    const { emitWarning } = process
    state.simulated = {
      random: () => this.ids.fraction(),
      immediate: (callback) => void this.in(0, undefined, callback),
    }
    const realClock = { ...systemClock }
    Object.assign(systemClock, this.refusedClock())
    state.nextThreadId = this.nextThreadId
    process.emitWarning = ((warning: string | Error) =>
      this.trace.note('warning', this.time, [String(warning)])) as never
    return () => {
      this.nextThreadId = state.nextThreadId
      Object.assign(state, before)
      Object.assign(systemClock, realClock)
      process.emitWarning = emitWarning
    }
  }

  /** Takes the place of the real clock: a seed could not repeat a run that reads it. */
  private refusedClock(): Clock {
    const refuse = (what: string) => () => {
      const error = new Error(
        `The simulation cannot repeat this run: the package asked for ${what} at ${this.time} ms`,
      )
      this.failed(error)
      throw error
    }
    return {
      now: refuse('the real time'),
      elapsedSince: refuse('the real time'),
      after: refuse('a real timer'),
    }
  }
}

type Step = () => End | undefined

function loopSync(step: Step, ticks: () => void, world: World): End {
  for (;;) {
    const end = step()
    if (end) return end
    try {
      ticks()
    } catch (error) {
      world.failed(error)
    }
  }
}

/** Where the runtime cannot run promise callbacks on request: one event in each tick of the event loop. */
async function loopAsync(step: Step, world: World): Promise<End> {
  const leave = world.enter()
  try {
    for (;;) {
      const end = step()
      if (end) return end
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
  } finally {
    leave()
  }
}
