/** What the client process measures and what it tells the process that started it. */

/** How a name begins whose numbers stay in Redis until users delete them. */
export const KEPT = 'kept:'

export interface CyclesOrder {
  readonly part: 'cycles'
  readonly count: number
  /** Plain and read-write locks, or all other objects. */
  readonly of: 'locks' | 'objects'
}

export interface WaitersOrder {
  readonly part: 'waiters'
  readonly count: number
}

export interface HeldOrder {
  readonly part: 'held'
  readonly count: number
  readonly leases: number
  /** lockWatchdogTimeout, in ms. */
  readonly lease: number
}

export type Order = CyclesOrder | WaitersOrder | HeldOrder

/** What the server knows of the client at some moment. */
export interface ServerView {
  /** Other than counts, counters and records of requests, which stay by design. */
  readonly keys: number
  readonly channels: number
  readonly connections: number
}

/** What the client process is made of at some moment, after two full collections. */
export interface Footprint {
  readonly heapUsed: number
  /** Active handles and requests, by kind. */
  readonly handles: Readonly<Record<string, number>>
  /** Listeners on the process and on the client's connections. */
  readonly listeners: number
  /** Entries left in the tables of the lock client, by table. */
  readonly left: Readonly<Record<string, number>>
  readonly server: ServerView
}

/** How long the event loop kept a 1 ms timer waiting, in ms; that millisecond is part of each value. */
export interface LoopDelay {
  readonly p50: number
  readonly p99: number
  readonly p999: number
  readonly max: number
}

/** How much of a processor the turns of the event loop took, in ms: what else runs on the machine is not in it. */
export interface Turns {
  readonly p999: number
  readonly max: number
}

export interface Phase {
  readonly seconds: number
  readonly delay: LoopDelay
  readonly turns: Turns
  /** Time of the client process on a processor, as a share of one core. */
  readonly cpu: number
}

interface Comparison {
  readonly before: Footprint
  readonly after: Footprint
}

export interface CyclesResult extends Comparison {
  readonly part: 'cycles'
  readonly count: number
  readonly of: CyclesOrder['of']
  readonly work: Phase
}

export interface WaitersResult extends Comparison {
  readonly part: 'waiters'
  readonly count: number
  readonly acquired: number
  readonly timedOut: number
  readonly aborted: number
  readonly joining: Phase
  readonly serving: Phase
  /** While all of them wait. */
  readonly waiting: { readonly seconds: number; readonly commands: number; readonly server: ServerView }
  /** Most listeners that ever were on the signal that many of them share, and on the client's connections. */
  readonly listenersWhileWaiting: number
}

export interface HeldResult extends Comparison {
  readonly part: 'held'
  readonly count: number
  readonly leases: number
  readonly lease: number
  readonly acquiring: Phase
  readonly renewing: Phase
  /** After the event loop stood still for so long that every renewal was due at once. */
  readonly catchingUp: Phase
  readonly releasing: Phase
  readonly lost: number
  readonly renewalsFailed: number
  readonly stillHeld: number
  /** Heap, per hold, while all are held. */
  readonly bytesAHold: number
  readonly server: RenewalsSeen
}

export type Result = CyclesResult | WaitersResult | HeldResult

/** The renewals as the server saw them. */
export interface RenewalsSeen {
  readonly scripts: number
  /** Locks in all of these scripts together. */
  readonly renewals: number
  readonly cpu: number
  /** The least that was left of any lease at the end, in ms. */
  readonly leastLeft: number
  readonly keys: number
}

/** Questions to the process that started the client, which looks at the server. */
export interface Questions {
  view: ServerView
  /** Commands processed so far, other than those that come with asking. */
  commands: number
  /** Starts counting renewals. */
  renewalsFrom: null
  renewals: RenewalsSeen
}

export type Answers = { readonly [Q in keyof Questions]: () => Promise<Questions[Q]> }

export type FromClient =
  | { readonly kind: 'ask'; readonly id: number; readonly question: keyof Questions }
  | { readonly kind: 'progress'; readonly text: string }
  | { readonly kind: 'result'; readonly result: Result }

export interface Answer {
  readonly id: number
  readonly answer: unknown
}
