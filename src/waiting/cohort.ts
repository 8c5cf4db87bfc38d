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
 * The minimum yield in ms. It starts at 0. When a peer did not acquire in time but still listens at the next release, the
 * next value applies. 20 ms are enough when a message takes 5 ms each way. 60 ms are enough for 20 ms each way, and for a
 * process that gets no processor for a while.
 */
const YIELD_STEPS = [0, 20, 60] as const
/** A longer yield applies for this many rounds. Then the shortest yield applies again. */
const ROUNDS_AT_STEP = 20
/** How long, in ms, a peer is left out of the count after it did not acquire within the longest yield. */
const FIRST_ABSENCE = 200
/**
 * The time doubles at each repetition, up to this. A peer that never acquires then costs its three yields (5, 20 and 60 ms) in
 * every 1,685 ms.
 */
const LONGEST_ABSENCE = 1_600

/** The longest yield without any new event, in ms. */
export const MAX_YIELD = Math.max(...YIELD_STEPS, YIELD_PER_PEER * MAX_PEERS_YIELDED_TO)

/** How the wait queue of this process shares a lock with other processes. */
export interface CohortPolicy {
  /** A caller came, and no other was waiting here. */
  come(): void
  /** The queue is about to send a try: after the yield, or earlier if the wait is short. `listening`: this process hears releases. */
  willTry(listening: boolean): void
  /** A try that competed with all clients acquired the lock: the turn of this process begins, or goes on. */
  begin(): void
  /** Whether the lock may go to the next local caller before another process may try. Each `true` counts one handoff. */
  handOff(): boolean
  /** A try that competed with all clients was not granted. */
  blocked(): void
  /** How long to leave the lock to other processes, in ms; 0: the first waiter here may try. */
  yieldTime(): number
}

/** For locks that processes do not share in turns, and while no caller has waited yet. */
export const NO_COHORT: CohortPolicy = {
  come() {},
  willTry() {},
  begin() {},
  handOff: () => false,
  blocked() {},
  yieldTime: () => 0,
}

/**
 * Lock cohorting: decides how long this process leaves a lock to its peers before it tries again.
 *
 * A turn begins when the process acquires the lock. It goes on while callers of the process hand the lock to each other. It
 * ends when the process releases the lock with a message. The server answers how many clients heard the message. Each of
 * them should have a turn before this process has its next one. This process counts their turns by the releases that it
 * hears. So the processes take turns without knowing each other, and a Java peer gets its turn, too.
 */
export class Cohort implements CohortPolicy {
  private handoffs = 0
  private beganAt = 0
  /** How many releases this process has heard, with its own. */
  private heard = 0
  private lastHeard = 0
  /** The value of `heard` at the last release here, with that release. Later releases came from other processes. */
  private heardAtOwnRelease = 0
  private endedAt = 0
  /** How many releases are in flight. A semaphore may have several. */
  private releasing = 0
  /** How many messages of releases of this process are still to be heard. */
  private ownToHear = 0
  /** The process acquired since its last cohort ended. */
  private hasBegun = false
  /** Permits: this process yielded in full, and was blocked all the same. It does not yield again before it acquires. */
  private hasYieldedEnough = false
  /**
   * The lock was released without a handoff. The turn goes on with the next caller here, unless another process was faster.
   */
  private continues = false
  /** This process has heard every release since its own last one. */
  private heardAll = false
  /** How many other clients heard the last release. */
  private peersListening = 0
  /** How many peers had not acquired when the yield here ended and the queue sent a try. */
  private peersPassedOver = 0
  /** The same number, if that try acquired the lock. */
  private peersThatMissed = 0
  /**
   * The last caller came more than YIELD_PER_PEER ms after the turn before it had ended. The next one probably comes too late,
   * too.
   */
  comesLate = false
  /** The index of the minimum yield that applies now, and for how many more rounds. */
  private yieldStep = 0
  private roundsAtStep = 0
  /** How many peers did not acquire even within the longest yield. `missing()` leaves them out until `absentUntil`. */
  private absentPeers = 0
  private absentUntil = 0
  /** For how long the next absent peers are left out, in ms. */
  private absentFor = FIRST_ABSENCE

  constructor(private readonly clock: Clock) {}

  /** A release was heard. The release of the last reader counts for all readers: no message says how many processes read. */
  hear(byReaders = false): void {
    this.heard++
    if (this.ownToHear > 0) this.ownToHear--
    else this.lastHeard = this.now()
    if (this.peerReleases > 0) this.continues = false
    if (byReaders) this.heard = Math.max(this.heard, this.heardAtOwnRelease + this.peersListening)
    // This process heard more releases than expected: a peer that counted as absent did acquire.
    else if (this.peerReleases > this.peersListening - this.absentPeers) {
      this.absentPeers = Math.max(0, this.peersListening - this.peerReleases)
      this.absentFor = FIRST_ABSENCE
    }
  }

  /** How many releases of peers were heard since the last release here. */
  get peerReleases(): number {
    return Math.max(0, this.heard - this.heardAtOwnRelease)
  }

  come(): void {
    const isOver = this.endedAt > 0 && this.beganAt <= this.endedAt
    this.comesLate = isOver && this.now() - this.endedAt > YIELD_PER_PEER
  }

  /** From now on this process does not hear releases, so it cannot know which peers missed a turn. */
  stopHearing(): void {
    this.heardAll = false
  }

  willTry(listening: boolean): void {
    this.heardAll &&= listening
    // A timer may end a fraction of a millisecond early.
    this.peersPassedOver = this.heardAll && !this.continues && this.yieldTime() < 1 ? this.missing() : 0
  }

  begin(): void {
    this.hasBegun = true
    if (this.continues) {
      this.continues = false
      return
    }
    this.hasYieldedEnough = false
    this.handoffs = 0
    this.beganAt = this.now()
    this.peersThatMissed = this.peersPassedOver
    this.peersPassedOver = 0
  }

  handOff(): boolean {
    if (this.peersListening > 0 && this.handoffs >= MAX_LOCAL_HANDOFFS) return false
    // Only the answer to the release in flight says whether other clients wait. Until then, local callers may pass permits
    // on for twice MAX_COHORT_DURATION.
    const isReleaseOpen = this.releasing > 0 && this.peersListening === 0
    if (this.now() - this.beganAt >= MAX_COHORT_DURATION * (isReleaseOpen ? 2 : 1)) return false
    this.handoffs++
    return true
  }

  blocked(): void {
    if (this.peersPassedOver > 0) this.hasYieldedEnough = true
  }

  /**
   * The lock is about to be released with a message. `listening`: this process hears that message, too. `another`: a
   * caller waits here, and this kind of lock has no handoff.
   */
  release(listening: boolean, another = false): void {
    if (this.releasing === 0) this.ownToHear = 0
    this.releasing++
    this.continues = another && this.handOff()
    this.heardAll = listening
    if (listening) this.ownToHear++
    if (this.endsCohort) this.heardAtOwnRelease = this.heard + this.ownToHear
    else if (listening) this.heardAtOwnRelease++
  }

  /** Further releases of a semaphore, and those of a process that only produces permits, do not end a cohort. */
  private get endsCohort(): boolean {
    return this.hasBegun || this.endedAt === 0
  }

  /** The lock was released, and `others` clients besides this one heard the message. */
  released(others: number): void {
    this.releasing = Math.max(0, this.releasing - 1)
    const now = this.now()
    if (this.endsCohort) this.endedAt = now
    this.hasBegun = false
    // A client that missed its turn because none of its callers waits any more does not listen.
    if (this.peersThatMissed > 0 && others > this.peersListening - this.peersThatMissed) this.waitLonger()
    else if (this.yieldStep > 0 && --this.roundsAtStep === 0) this.yieldStep = 0
    this.peersThatMissed = 0
    this.peersListening = others
    if (others > 0) return
    this.absentPeers = 0
    // No other client heard the release. Permits may still be in use here, so a new cohort begins at once.
    this.handoffs = 0
    this.beganAt = now
  }

  yieldTime(): number {
    if (this.continues || this.hasYieldedEnough) return 0
    if (this.releasing > 0) return this.peersListening > 0 ? MAX_YIELD : 0
    const missing = this.missing()
    if (missing === 0) return 0
    const time = Math.max(
      YIELD_PER_PEER * Math.min(missing, MAX_PEERS_YIELDED_TO),
      YIELD_STEPS[this.yieldStep]!,
    )
    return Math.max(0, Math.max(this.endedAt, this.lastHeard) + time - this.now())
  }

  /** Peers missed their turn and still listen: yields longer. If the longest yield was too short, they count as absent. */
  private waitLonger(): void {
    if (this.yieldStep < YIELD_STEPS.length - 1) {
      this.yieldStep++
      this.roundsAtStep = ROUNDS_AT_STEP
      return
    }
    this.yieldStep = 0
    this.absentPeers += this.peersThatMissed
    this.absentUntil = this.endedAt + this.absentFor
    this.absentFor = Math.min(2 * this.absentFor, LONGEST_ABSENCE)
  }

  /** How many peers had no turn yet since the last turn here. */
  private missing(): number {
    if (this.peersListening === 0) return 0
    if (this.now() >= this.absentUntil) this.absentPeers = 0
    return Math.max(0, this.peersListening - this.absentPeers - this.peerReleases)
  }

  private now(): number {
    return this.clock.now().monotonic
  }
}
