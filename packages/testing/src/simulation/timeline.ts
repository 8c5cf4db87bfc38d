import type { Choices } from './choices'
import type { Trace } from './trace'

/** A process, as the events that happen in it see it. */
export interface EventOwner {
  readonly isAlive: boolean
  /** Takes an event that cannot happen now, because the process is suspended. False: it can. */
  keeps(event: Event): boolean
}

/** Something that happens at one moment of the virtual time. */
export interface Event {
  readonly time: number
  /** Counts the events, so that those of one moment happen in the order in which they were planned. */
  readonly order: number
  /** In which process it happens; undefined: at a server or in the network. */
  readonly process: EventOwner | undefined
  /** Undefined once it is cancelled. */
  run: (() => void) | undefined
  /** Whether it is still to come. */
  isPlanned: boolean
}

/** The world, as its parts see it. */
export interface Timeline {
  /** In ms since the begin. */
  readonly time: number
  readonly choices: Choices
  readonly trace: Trace
  /** Plans something in this many ms of virtual time. */
  in(ms: number, process: EventOwner | undefined, run: () => void): Event
  at(time: number, process: EventOwner | undefined, run: () => void): Event
  cancel(event: Event): void
}
