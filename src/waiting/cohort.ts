import type { Clock } from '../util/clock'

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
/** So many turns in a row that missing peers let pass leave one of these peers out of the count. */
const MISSES_OF_ABSENT = 3

/**
 * Lock cohorting: decides how long this process leaves a lock to its peers before it tries again.
 *
 * A turn begins when the process acquires the lock. It goes on while callers of the process hand the lock to
 * each other. It ends when the process releases the lock with a message. The server answers how many clients
 * heard the message. Each of them should have a turn before this process has its next one. This process
 * counts their turns by the releases that it hears. So the processes take turns without knowing each other,
 * and a Java peer gets its turn, too.
 *
 * What changes at an event (`released` also sets the number of peers). The columns up to `handoffs` say whose
 * turn it is, the others what is known of the peers:
 *
 * | Event                           | turn       | since   | handoffs | heard     | echoes  | misses   |
 * | ------------------------------- | ---------- | ------- | -------- | --------- | ------- | -------- |
 * | begin: the turn goes on         | ours       |         |          |           |         |          |
 * | begin: a new turn               | ours       | now     | 0        |           |         | +1 (c)   |
 * | takeHandoff: true (f)           |            |         | +1       |           |         |          |
 * | release: of our turn            | releasing  |         |          | 0         | 0/1 (a) |          |
 * | release: a local caller is next | next       |         | +1       | 0         | 0/1 (a) |          |
 * | release: any other              |            |         |          |           | +1 (a)  |          |
 * | released: peers heard it        | others (b) | now (b) |          |           |         |          |
 * | released: no peer heard it      | next       | now     | 0        |           |         |          |
 * | notReleased                     | ours (b)   |         |          |           | -1 (a)  |          |
 * | hear: our own message           |            |         |          |           | -1      |          |
 * | hear: a release of a peer       | others (d) | now (d) |          | +1        |         | less (e) |
 * | hear: the last of all readers   | others (d) | now (d) |          | all peers | -1 (g)  | 0        |
 *
 * (a) 1 if this process hears the message, otherwise 0. (b) If it was `releasing`. (c) If this process
 * listens, and the yield ended before all peers were heard. (d) Unless the turn is `ours`. (e) No more peers
 * are absent than were not heard. (f) Not while `releasing`: then it counts nothing. (g) If it was above 0.
 * If `heard` stays 0 even so, because there is no peer, nothing else changes.
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
  /** How many other clients heard the last release here. */
  private peers = 0
  /** How many releases of others were heard since then. */
  heard = 0
  /** How many messages of own releases are still to be heard. The next messages are taken for them. */
  private echoes = 0
  /** How many turns in a row went by in which peers did not come. */
  private misses = 0

  constructor(private readonly clock: Clock) {
    // A client that never waited has a cohort from a release that others heard.
    this.since = this.now()
  }

  /**
   * A try that competed with all clients acquired the lock. `listening`: this process hears the releases of
   * others.
   */
  begin(listening: boolean): void {
    if (!this.hasTurn || this.peers === 0) {
      // A timer may end a fraction of a millisecond early.
      const isMissed = this.missing > 0 && this.now() > this.yieldEnd - 1
      if (listening && isMissed) this.misses++
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
    if (this.turn === 'releasing') return peers === 0
    if (!this.hasTurn || this.now() - since >= MAX_COHORT_DURATION) return false
    if (peers > 0 && handoffs >= MAX_LOCAL_HANDOFFS) return false
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
      this.heard = this.echoes = 0
      this.turn = another && this.takeHandoff() ? 'next' : 'releasing'
    }
    if (listening) this.echoes++
  }

  /** The lock was released, and `others` clients besides this one heard the message. */
  released(others: number): void {
    this.peers = others
    if (this.turn === 'releasing') this.leaveToOthers()
    if (others > 0) return
    // Permits may still be in use here, so a new turn begins at once.
    this.turn = 'next'
    this.since = this.now()
    this.handoffs = 0
  }

  /** The release changed nothing, so no message of it comes. `listening`: what `release` was told. */
  notReleased(listening: boolean): void {
    if (listening && this.echoes > 0) this.echoes--
    if (this.turn === 'releasing') this.turn = 'ours'
  }

  /**
   * A release was heard. The release of the last reader counts for all readers: no message says how many
   * processes read.
   */
  hear(byReaders = false): void {
    const isOwn = this.echoes > 0
    if (isOwn) this.echoes--
    else this.heard++
    if (byReaders) this.heard = Math.max(this.heard, this.peers)
    if (this.heard === 0 || (isOwn && !byReaders)) return
    this.misses = Math.min(this.misses, MISSES_OF_ABSENT * Math.max(0, this.peers - this.heard))
    if (this.turn !== 'ours') this.leaveToOthers()
  }

  /** How long to leave the lock to other processes, in ms; 0: the first waiter here may try. */
  yieldTime(): number {
    if (this.hasTurn || this.missing === 0) return 0
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
    return this.since + (this.heard > 0 ? YIELD_AFTER_PEER : MAX_YIELD)
  }

  private get hasTurn(): boolean {
    return this.turn === 'ours' || this.turn === 'next'
  }

  /** How many peers that are counted had no turn since the last turn here. */
  private get missing(): number {
    const absent = Math.floor(this.misses / MISSES_OF_ABSENT)
    return Math.max(0, this.peers - absent - this.heard)
  }

  private leaveToOthers() {
    this.turn = 'others'
    this.since = this.now()
  }

  private now(): number {
    return this.clock.now().monotonic
  }
}
