import { type Choices, hash } from './choices'

/** Part of a line of a trace: a text, or a value that stands there as JSON. */
export type Noted = string | number | boolean | null | undefined | readonly Noted[]

/** What happened, as text, and its hash: two runs with the same hash did the same. */
export class Trace {
  readonly lines: string[] = []
  private one = 0x811c9dc5
  private other = 0x2545f491

  constructor(private readonly isRecorded = false) {}

  /**
   * `by`: the connection of a command. Texts are written only if the run is recorded. The hash is of the parts, because to join them costs
   * more than to run a command.
   */
  note(what: string, time: number, details: readonly string[], answer?: Noted, by = ''): void {
    let one = hash(by, hashNumber(time, hash(what, this.one)))
    for (const detail of details) one = hash(detail, hashNumber(detail.length, one))
    one = hashValue(answer, one)
    this.one = one
    // The second half is of the first half and the time, so that an error in one half shows in the other.
    this.other = (Math.imul(this.other ^ one, 0x9e3779b1) + details.length) | 0
    if (!this.isRecorded) return
    const answered = answer === undefined ? '' : ` = ${JSON.stringify(answer)}`
    this.lines.push(`${what} ${time} ${by === '' ? '' : `${by} `}${details.join(' ')}${answered}`)
  }

  get hash(): string {
    return [this.one, this.other].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('')
  }
}

const PRIME = 0x01000193
/** Times are sums of tenths of a ms. */
const GRAIN = 1024

function hashNumber(value: number, start: number): number {
  const scaled = value * GRAIN
  return Math.imul(Math.imul(start ^ (scaled | 0), PRIME) ^ ((scaled / 2 ** 32) | 0), PRIME)
}

function hashValue(value: Noted, start: number): number {
  if (typeof value === 'string') return hash(value, hashNumber(value.length, start))
  if (typeof value === 'number') return hashNumber(value, Math.imul(start ^ 1, PRIME))
  if (typeof value === 'object' && value !== null) {
    let mixed = hashNumber(value.length, Math.imul(start ^ 2, PRIME))
    for (const element of value) mixed = hashValue(element, mixed)
    return mixed
  }
  return Math.imul(start ^ (value === undefined ? 3 : value === null ? 4 : value ? 5 : 6), PRIME)
}

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
