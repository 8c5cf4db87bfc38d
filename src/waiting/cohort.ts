import type { Clock } from '../util/clock'

/** Within one turn the lock goes from one local caller to the next at most so many times while other processes wait. */
export const MAX_LOCAL_HANDOFFS = 20
/** ... and for no longer than this, in ms, whether others are known to wait or not. */
export const MAX_COHORT_DURATION = 10
/** How long each process that is to come first has to take the lock, in ms, ... */
const YIELD_PER_PEER = 5
/** ... for so many of them at most. */
const MAX_PEERS_YIELDED_TO = 3
/** A waiter that has no more than this left of its wait, in ms, never yields. */
export const SHORT_WAIT = 2 * YIELD_PER_PEER * MAX_PEERS_YIELDED_TO
/**
 * The minimum yield in ms. It starts at 0. When a peer did not acquire in time but still listens at the next release,
 * the next value applies. 20 ms suffice where a message takes 5 ms each way, 60 ms for 20 ms
 * each way and for a process that gets no processor for a while.
 */
const LONGER_TIMES = [0, 20, 60] as const
/** A longer time is kept for so many rounds; then the shortest is tried again. */
const ROUNDS_WITH_LONGER_TIME = 20
/** A process that does not come in the longest time is left out of the count for so long, in ms, ... */
const ABSENT_AT_FIRST = 200
/** ... then for twice as long each time, up to this: one that never comes costs 85 ms in 1,685, a twentieth. */
const ABSENT_AT_MOST = 1_600

/** No process yields for longer than this without anything happening, in ms. */
export const MAX_YIELD = Math.max(...LONGER_TIMES, YIELD_PER_PEER * MAX_PEERS_YIELDED_TO)

/** How the waiters of this process share the lock with other processes, as far as their queue goes. */
export interface CohortPolicy {
  /** A caller came, and no other was waiting here. */
  come(): void
  /** The lock is asked for. `listening`: this process hears releases. */
  ask(listening: boolean): void
  /** The lock was acquired by an attempt that competed with all clients. */
  begin(): void
  /** Whether the lock may go to the next local caller without another process having a chance at it; counts as done. */
  handOff(): boolean
  /** For how long others are to have the lock to themselves, in ms; 0: the first waiter here may ask. */
  yieldTime(): number
}

/** Where processes do not take turns, or no caller has waited yet. */
export const NO_COHORT: CohortPolicy = {
  come() {},
  ask() {},
  begin() {},
  handOff: () => false,
  yieldTime: () => 0,
}

/**
 * Lock cohorting: whose turn it is among the processes before one lock, as far as one of them can tell.
 *
 * A turn begins when the process takes the lock. It goes on while its callers hand the lock to each other. It ends when
 * the lock is released with a message. The server answers how many clients heard the message. Each of them is to have
 * a turn before this process has its next one; this process knows their turns by the releases that it hears. So the
 * processes go round without knowing of each other, and a Java peer, which knows nothing of this, gets its turn.
 */
export class Cohort implements CohortPolicy {
  private handoffs = 0
  private began = 0
  /** Releases heard so far, our own included. */
  private heard = 0
  private lastHeard = 0
  /** The value of `heard` at our last release, that release included. Releases above it came from other processes. */
  private heardBefore = 0
  private endedAt = 0
  /** Releases that are in flight; of what is shared in parts there may be several. */
  private releasing = 0
  /**
   * It was released without a handoff, and the turn goes on with the next caller here, if no other process was faster.
   */
  private goesOn = false
  /** Every release since our last one was heard. */
  private hearsAll = false
  /** How many others heard of the last release. */
  private others = 0
  /** Peers that had not acquired when our yield ended and we sent an attempt. */
  private overlooked = 0
  /** The same peers, if that attempt acquired the lock. */
  private missed = 0
  /** The last caller came more than YIELD_PER_PEER ms after the turn before it had ended. */
  private cameLate = false
  /** Which of the longer times the others have now, and for how many more rounds. */
  private longer = 0
  private roundsWithLonger = 0
  /** How many peers did not acquire even within the longest yield. `missing()` leaves them out until `absentUntil`. */
  private absent = 0
  private absentUntil = 0
  /** For how long the next absent peers are left out, in ms. */
  private absentFor = ABSENT_AT_FIRST

  constructor(private readonly clock: Clock) {}

  /** A release was heard. The last reader's release counts for all readers: no message says how many processes read. */
  hear(byReaders = false): void {
    this.heard++
    this.lastHeard = this.now()
    if (this.had > 0) this.goesOn = false
    if (byReaders) this.heard = Math.max(this.heard, this.heardBefore + this.others)
    // More than were still expected: an absent one did come after all.
    else if (this.had > this.others - this.absent) {
      this.absent = Math.max(0, this.others - this.had)
      this.absentFor = ABSENT_AT_FIRST
    }
  }

  /** How many releases of others were heard since the last one here. */
  get had(): number {
    return Math.max(0, this.heard - this.heardBefore)
  }

  /** A caller came, and no other was waiting here. */
  come(): void {
    const isOver = this.endedAt > 0 && this.began <= this.endedAt
    this.cameLate = isOver && this.now() - this.endedAt > YIELD_PER_PEER
  }

  /** Whether the next caller, like the last, will come too late for a turn. */
  get comesLate(): boolean {
    return this.cameLate
  }

  /** This process does not hear releases from now on, and cannot say who missed a turn. */
  stopHearing(): void {
    this.hearsAll = false
  }

  /**
   * The lock is asked for: in turn, or out of turn where the wait is short. `listening`: this process hears releases.
   */
  ask(listening: boolean): void {
    this.hearsAll &&= listening
    // A timer may end a fraction of a millisecond early.
    this.overlooked = this.hearsAll && !this.goesOn && this.yieldTime() < 1 ? this.missing() : 0
  }

  /** The lock was taken: the turn begins. */
  begin(): void {
    if (this.goesOn) {
      this.goesOn = false
      return
    }
    this.handoffs = 0
    this.began = this.now()
    this.missed = this.overlooked
    this.overlooked = 0
  }

  /** Whether the lock may go to the next local caller without another process having a chance at it; counts as done. */
  handOff(): boolean {
    if (this.others > 0 && this.handoffs >= MAX_LOCAL_HANDOFFS) return false
    // The answer to a release in flight says whether others wait now; until then parts that are still here go on.
    const isAsking = this.releasing > 0 && this.others === 0
    if (this.now() - this.began >= MAX_COHORT_DURATION * (isAsking ? 2 : 1)) return false
    this.handoffs++
    return true
  }

  /**
   * The lock is about to be released with a message. `listening`: this process hears that message, too. `another`: a
   * caller waits here, and this kind of lock has no handoff.
   */
  release(listening: boolean, another = false): void {
    this.releasing++
    this.goesOn = another && this.handOff()
    this.hearsAll = listening
    this.heardBefore = this.heard + (listening ? this.releasing : 0)
  }

  /** The lock was released, and `others` clients besides this one heard the message. */
  released(others: number): void {
    this.releasing = Math.max(0, this.releasing - 1)
    this.endedAt = this.now()
    // A client that missed its turn because it has lost interest does not listen any more.
    if (this.missed > 0 && others > this.others - this.missed) this.waitLonger()
    else if (this.longer > 0 && --this.roundsWithLonger === 0) this.longer = 0
    this.missed = 0
    this.others = others
    if (others > 0) return
    this.absent = 0
    // What is shared in parts is still in use here: with no others a new cohort begins.
    this.handoffs = 0
    this.began = this.endedAt
  }

  /** For how long others are to have the lock to themselves, in ms; 0: the first waiter here may ask. */
  yieldTime(): number {
    if (this.goesOn) return 0
    if (this.releasing > 0) return this.others > 0 ? MAX_YIELD : 0
    const missing = this.missing()
    if (missing === 0) return 0
    const time = Math.max(
      YIELD_PER_PEER * Math.min(missing, MAX_PEERS_YIELDED_TO),
      LONGER_TIMES[this.longer]!,
    )
    return Math.max(0, Math.max(this.endedAt, this.lastHeard) + time - this.now())
  }

  /** Peers missed their turn and still listen: yields longer. Where the longest yield was too short, they count as absent. */
  private waitLonger(): void {
    if (this.longer < LONGER_TIMES.length - 1) {
      this.longer++
      this.roundsWithLonger = ROUNDS_WITH_LONGER_TIME
      return
    }
    this.longer = 0
    this.absent += this.missed
    this.absentUntil = this.endedAt + this.absentFor
    this.absentFor = Math.min(2 * this.absentFor, ABSENT_AT_MOST)
  }

  /** How many had no turn yet since the last one here. */
  private missing(): number {
    if (this.others === 0) return 0
    if (this.now() >= this.absentUntil) this.absent = 0
    return Math.max(0, this.others - this.absent - this.had)
  }

  private now(): number {
    return this.clock.now().monotonic
  }
}
