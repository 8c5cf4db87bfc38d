import type { Clock } from '../util/clock'
import { Peers } from './peers'

/** The most local handoffs of one turn while other processes wait. */
export const MAX_LOCAL_HANDOFFS = 20
/** The longest turn in ms, whether other processes are known to wait or not. */
export const MAX_COHORT_DURATION = 10
/**
 * How long a process yields after its own release, in ms. It is enough for a peer whose messages take 5 ms
 * each way.
 */
export const MAX_YIELD = 20
/**
 * The same after the release of a peer. So a process that waits is faster than one that has just had the
 * lock.
 */
export const YIELD_AFTER_PEER = 17
/** A waiter whose remaining wait is at most this long, in ms, never yields. */
const SHORT_WAIT = 30

/**
 * Lock cohorting: decides how long this process leaves a lock to its peers before it tries again.
 *
 * A turn begins when the process acquires the lock. It goes on while callers of the process hand the lock to
 * each other. It ends when the process releases the lock with a message, and none of its callers is to be
 * next. The server answers how many clients heard the message. Each of them should have a turn before this
 * process has its next one. This process counts their turns by the releases that it hears. So the processes
 * take turns without knowing each other, and a Java peer gets its turn, too.
 *
 * Whose turn it is (peers.ts says what is known of the peers):
 *
 * | Event                           | turn       | since   | handoffs |
 * | ------------------------------- | ---------- | ------- | -------- |
 * | begin: the turn goes on         | ours       |         |          |
 * | begin: a new turn               | ours       | now     | 0        |
 * | takeHandoff: true (a)           |            |         | +1       |
 * | release: of our turn            | releasing  |         |          |
 * | release: a local caller is next | next       |         | +1       |
 * | released: peers heard it        | others (b) | now (b) |          |
 * | released: no peer heard it      | next       | now     | 0        |
 * | notReleased                     | ours (b)   |         |          |
 * | hear: a peer has released       | others (c) | now (c) |          |
 *
 * (a) Not while `releasing`: then it counts nothing. (b) If it was `releasing`. (c) Unless it is `ours`.
 */
export class Cohort {
  /**
   * - `ours`: this process has the lock, or may take it
   * - `next`: the same, but the server notified the peers, or there is none: a peer may be faster
   * - `releasing`: it released the lock to others, and the server has not answered
   * - `others`: it leaves the lock to its peers, until each of them was heard or the yield is over
   */
  private turn: 'ours' | 'next' | 'releasing' | 'others' = 'others'
  /**
   * When the turn of this process began, in ms by the monotonic clock; if it is the turn of others, when it
   * ended or one of them released.
   */
  private since: number
  /** How many local handoffs the turn has had. */
  private handoffs = 0
  readonly peers = new Peers()

  constructor(private readonly clock: Clock) {
    // A client that never waited has a cohort from a release that others heard.
    this.since = this.now()
  }

  /**
   * A try that competed with all clients acquired the lock. `listening`: this process hears the releases of
   * others.
   */
  begin(listening: boolean): void {
    const { peers } = this
    if (!this.hasTurn || peers.count === 0) {
      // A timer may end a fraction of a millisecond early.
      if (listening && peers.missing > 0 && this.now() > this.yieldEnd - 1) peers.missedTurn()
      this.since = this.now()
      this.handoffs = 0
    }
    this.turn = 'ours'
  }

  /**
   * Takes one of the handoffs of this turn: the lock goes to the next local caller. False: another process
   * may try first.
   */
  takeHandoff(): boolean {
    const { since, handoffs, peers } = this
    // One permit goes to the server with a message, and no other client heard the last one. The others need
    // not go as well.
    if (this.turn === 'releasing') return peers.count === 0
    if (!this.hasTurn || this.now() - since >= MAX_COHORT_DURATION) return false
    if (peers.count > 0 && handoffs >= MAX_LOCAL_HANDOFFS) return false
    this.handoffs++
    return true
  }

  /**
   * The lock is about to be released with a message. `listening`: this process hears that message, too.
   * `another`: a caller waits here, and this kind of lock has no handoff.
   */
  release(listening: boolean, another = false): void {
    // Further releases of a semaphore, and those of a process that only produces permits, end no turn.
    if (this.hasTurn) {
      this.peers.turnBegins()
      this.turn = another && this.takeHandoff() ? 'next' : 'releasing'
    }
    if (listening) this.peers.expectEcho()
  }

  /** The lock was released, and `others` clients besides this one heard the message. */
  released(others: number): void {
    this.peers.count = others
    if (this.turn === 'releasing') this.leaveToOthers()
    if (others > 0) return
    // Permits may still be in use here, so a new turn begins at once.
    this.turn = 'next'
    this.since = this.now()
    this.handoffs = 0
  }

  /** The release changed nothing, so no message of it comes. `listening`: what `release` was told. */
  notReleased(listening: boolean): void {
    if (listening) this.peers.noEcho()
    if (this.turn === 'releasing') this.turn = 'ours'
  }

  /**
   * A release was heard. The release of the last reader counts for all readers: no message says how many
   * processes read.
   */
  hear(byReaders = false): void {
    if (this.peers.hear(byReaders) && this.turn !== 'ours') this.leaveToOthers()
  }

  /** How long to leave the lock to other processes, in ms; 0: the first waiter here may try. */
  yieldTime(): number {
    if (this.hasTurn || this.peers.missing === 0) return 0
    if (this.turn === 'releasing') return MAX_YIELD
    return Math.max(0, this.yieldEnd - this.now())
  }

  /** How much of that this waiter leaves to them: half of its remaining wait at most. */
  yieldTimeOf(waiter: { readonly remainingWait: number }): number {
    const time = this.yieldTime()
    if (time === 0) return 0
    const { remainingWait } = waiter
    return remainingWait <= SHORT_WAIT ? 0 : Math.min(time, remainingWait / 2)
  }

  private get yieldEnd(): number {
    return this.since + (this.peers.heard > 0 ? YIELD_AFTER_PEER : MAX_YIELD)
  }

  private get hasTurn(): boolean {
    return this.turn === 'ours' || this.turn === 'next'
  }

  private leaveToOthers() {
    this.turn = 'others'
    this.since = this.now()
  }

  private now(): number {
    return this.clock.now().monotonic
  }
}
