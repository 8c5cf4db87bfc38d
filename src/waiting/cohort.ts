import type { Clock } from '../util/clock'

/** The most local handoffs of one turn while other processes wait. */
export const MAX_LOCAL_HANDOFFS = 20
/** The longest turn in ms, whether other processes are known to wait or not. */
export const MAX_COHORT_DURATION = 10
/** How long the cohort yields for each peer, in ms. */
const YIELD_PER_PEER = 5
/** The most peers for which the cohort yields. */
const MAX_PEERS_YIELDED_TO = 3
/** A waiter whose remaining wait is at most this long, in ms, never yields. */
export const SHORT_WAIT = 2 * YIELD_PER_PEER * MAX_PEERS_YIELDED_TO
/**
 * The least yield in ms, after peers have missed no turn, one, or more. 20 ms are enough when a message takes 5 ms each way.
 * 60 ms are enough for 20 ms each way, and for a process that gets no processor for a while.
 */
const LEAST_YIELDS = [0, 20, 60] as const
/** For this long, in ms, a longer yield applies. Then the shortest one applies again. */
const LONGER_YIELD_LASTS = 3_000
/**
 * A peer that missed this many turns in a row is left out of the count for a while, because the longest yield was too short for
 * it. After that the yields grow again from the shortest.
 */
const MISSES_TO_ABSENCE = LEAST_YIELDS.length
/** How long it is left out the first time, in ms. The time doubles at each repetition, up to the longest. */
const FIRST_ABSENCE = 200
const LONGEST_ABSENCE = 1_600

/** The longest yield without any new event, in ms. */
export const MAX_YIELD = LEAST_YIELDS[LEAST_YIELDS.length - 1]!

/** Values of `since` that are no times: this process is inside, or its release is not answered yet. */
const INSIDE = Number.NEGATIVE_INFINITY
const RELEASING = Number.POSITIVE_INFINITY

/** Values of `missed` that are no numbers of peers. */
const UNHEARD = -1
const LATE = -2

/** All that a process knows of the turns at one lock. Times are in ms, by the monotonic clock. */
export class Turns {
  /**
   * When the turn of this process began; undefined: it has none. It outlasts a release to the next caller here, until another
   * process was faster.
   */
  turn: number | undefined = undefined
  /** How many local handoffs the turn has had. */
  handoffs = 0
  /** How many other clients heard the last release here. */
  peers = 0
  /** How many releases of others were heard since then. Below 0: messages of this process are still to be heard. */
  heard = 0
  /** From when a yield counts: the last release, here or by a peer; or INSIDE, or RELEASING. */
  since = RELEASING
  /** How many peers had not acquired when the yield was over. UNHEARD: unknown; LATE: the caller here came late. */
  missed = 0
  /** How many turns in a row peers missed. */
  misses = 0
  /** Until when that applies: the longer yield, or that `missed` peers are left out of the count. */
  until = 0
}

/** Whether the lock may go to the next caller of this process. */
export function mayPass({ turn, handoffs, peers }: Readonly<Turns>, now: number): boolean {
  if (turn === undefined || now - turn >= MAX_COHORT_DURATION) return false
  return peers === 0 || handoffs < MAX_LOCAL_HANDOFFS
}

/** How long this process leaves the lock to its peers, in ms: until each of them had a turn, or did not come in time. */
export function pause(turns: Readonly<Turns>, now: number): number {
  const missing = missingPeers(turns, now)
  if (turns.turn !== undefined || missing === 0) return 0
  const leastYield = LEAST_YIELDS[missesAt(turns, now) % MISSES_TO_ABSENCE]!
  const time = Math.max(YIELD_PER_PEER * Math.min(missing, MAX_PEERS_YIELDED_TO), leastYield)
  return Math.max(0, Math.min(MAX_YIELD, turns.since + time - now))
}

function missesAt({ misses, until }: Readonly<Turns>, now: number): number {
  return misses < MISSES_TO_ABSENCE && now >= until ? 0 : misses
}

/** Some peers have missed so many turns that they are left out of the count. */
function someAreAbsent({ misses, until }: Readonly<Turns>, now: number): boolean {
  return misses > 0 && misses % MISSES_TO_ABSENCE === 0 && now < until
}

/** The lock was released to the next caller here, without a handoff. */
function goesOn({ turn, since }: Readonly<Turns>): boolean {
  return turn !== undefined && since > INSIDE
}

/** How many peers had no turn since the last turn here. */
function missingPeers(turns: Readonly<Turns>, now: number): number {
  const { peers, heard, missed } = turns
  const absent = someAreAbsent(turns, now) ? Math.max(0, missed) : 0
  return Math.max(0, peers - absent - Math.max(0, heard))
}

/**
 * Lock cohorting: decides how long this process leaves a lock to its peers before it tries again.
 *
 * A turn begins when the process acquires the lock. It goes on while callers of the process hand the lock to each other. It
 * ends when the process releases the lock with a message. The server answers how many clients heard the message. Each of
 * them should have a turn before this process has its next one. This process counts their turns by the releases that it
 * hears. So the processes take turns without knowing each other, and a Java peer gets its turn, too.
 */
export class Cohort extends Turns {
  constructor(private readonly clock: Clock) {
    super()
  }

  /** A release was heard. The release of the last reader counts for all readers: no message says how many processes read. */
  hear(byReaders = false): void {
    this.heard++
    if (byReaders) this.heard = Math.max(this.heard, this.peers)
    if (this.heard <= 0) return
    // Another process was faster than the next caller here.
    if (goesOn(this)) this.turn = undefined
    if (this.turn === undefined) this.since = this.now()
    // All of them had a turn: the yield was long enough, or those that were left out have come.
    if (this.misses >= MISSES_TO_ABSENCE && this.heard >= this.peers)
      this.keepLongerYield(
        someAreAbsent(this, this.now()) ? MISSES_TO_ABSENCE - 1 : this.misses % MISSES_TO_ABSENCE,
      )
  }

  /** A caller came, and no other was waiting here. */
  come(): void {
    const hasTurn = this.turn !== undefined && this.peers > 0
    const now = this.now()
    if (!hasTurn && this.missed >= 0 && !someAreAbsent(this, now) && now - this.since > YIELD_PER_PEER)
      this.missed = LATE
  }

  /** From now on this process does not hear releases, so it cannot know which peers missed a turn. */
  stopHearing(): void {
    this.missed = UNHEARD
  }

  /** The queue is about to send a try: after the yield, or earlier if the wait is short. `listening`: this process hears releases. */
  willTry(listening: boolean): void {
    const now = this.now()
    if (this.missed < 0 || someAreAbsent(this, now)) return
    // A timer may end a fraction of a millisecond early.
    const isOver = this.turn === undefined && pause(this, now) < 1
    this.missed = !listening ? UNHEARD : isOver ? missingPeers(this, now) : 0
  }

  /** A try that competed with all clients acquired the lock: the turn of this process begins, or goes on. */
  begin(): void {
    if (!goesOn(this) || this.peers === 0) {
      this.turn = this.now()
      this.handoffs = 0
    }
    this.since = INSIDE
  }

  /** Whether the lock may go to the next local caller before another process may try. Each `true` counts one handoff. */
  handOff(): boolean {
    if (!mayPass(this, this.now())) return false
    this.handoffs++
    return true
  }

  /**
   * The lock is about to be released with a message. `listening`: this process hears that message, too. `another`: a
   * caller waits here, and this kind of lock has no handoff.
   */
  release(listening: boolean, another = false): void {
    const own = listening ? 1 : 0
    // Further releases of a semaphore, and those of a process that only produces permits, end no turn.
    if (this.turn === undefined) {
      this.heard -= own
      return
    }
    if (!another || !this.handOff()) this.turn = undefined
    this.heard = -own
    this.since = RELEASING
  }

  /**
   * The lock was released, and `others` clients besides this one heard the message. Returns whether the caller here had come
   * more than YIELD_PER_PEER ms after the turn before: the next one probably comes too late, too.
   */
  released(others: number, listening: boolean): boolean {
    const now = this.now()
    const isLate = this.missed === LATE
    if (this.since === RELEASING) {
      // A client that missed its turn because none of its callers waits any more does not listen.
      const stillListen = this.missed > 0 && others > this.peers - this.missed
      if (stillListen && !someAreAbsent(this, now)) this.missedAgain(now)
      if (others === 0 || !someAreAbsent(this, now)) this.missed = listening ? 0 : UNHEARD
      this.since = now
    }
    this.peers = others
    if (others === 0) {
      // No other client heard the release. Permits may still be in use here, so a new turn begins at once.
      this.turn = now
      this.handoffs = 0
    }
    return isLate
  }

  /** How long to leave the lock to other processes, in ms; 0: the first waiter here may try. */
  yieldTime(): number {
    return pause(this, this.now())
  }

  /** Peers missed their turn and still listen: yields longer. If the longest yield was too short, they count as absent. */
  private missedAgain(now: number): void {
    this.keepLongerYield(missesAt(this, now) + 1)
    if (this.misses % MISSES_TO_ABSENCE > 0) return
    const repetitions = this.misses / MISSES_TO_ABSENCE - 1
    this.until = now + Math.min(FIRST_ABSENCE * 2 ** repetitions, LONGEST_ABSENCE)
  }

  private keepLongerYield(misses: number) {
    this.misses = misses
    this.until = this.now() + LONGER_YIELD_LASTS
  }

  private now(): number {
    return this.clock.now().monotonic
  }
}
