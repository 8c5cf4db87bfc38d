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
  /** A scheduler may let it happen as late as this. Equal to `time`, except for what travels in the network. */
  readonly latest: number
  /** Events of one chain happen in their order: the timers of a process, one direction of a connection. */
  readonly chain: unknown
  /** Counts the events, so that those of one moment happen in the order in which they were planned. */
  readonly order: number
  /** In which process it happens; undefined: at a server or in the network. */
  readonly process: EventOwner | undefined
  /** Undefined once it is cancelled. */
  run: (() => void) | undefined
  /** Whether it is still to come. */
  isPlanned: boolean
}

/** Decides which event comes next, where the world takes the earliest one otherwise. */
export interface Scheduler {
  /** One of these, or one that it has just planned for this moment. Undefined: the run stops here. */
  choose(possible: readonly Event[]): Event | undefined
}

/** The world, as its parts see it. */
export interface Timeline {
  /** In ms since the begin. */
  readonly time: number
  readonly choices: Choices
  readonly trace: Trace
  /** Whether a scheduler decides when messages arrive. Their delays are not drawn then. */
  readonly isScheduled: boolean
  /** Plans something in this many ms of virtual time. */
  in(ms: number, process: EventOwner | undefined, run: () => void): Event
  at(time: number, process: EventOwner | undefined, run: () => void): Event
  /** Plans an arrival between two times, after all others of its chain. */
  between(
    earliest: number,
    latest: number,
    process: EventOwner | undefined,
    chain: unknown,
    run: () => void,
  ): Event
  cancel(event: Event): void
}
