import type { Clock } from '../runtime/clock'

/** Within one turn the lock goes from one local caller to the next at most so many times while other processes wait. */
export const MOST_HAND_OVERS = 20
/** ... and for no longer than this, in ms, whether others are known to wait or not. */
export const LONGEST_TURN = 10
/** How long each process that is to come first has to take the lock, in ms, ... */
const ROOM_FOR_EACH = 5
/** ... for so many of them at most. */
const MOST_WAITED_FOR = 3
/** Those who did not come when they were waited for are not waited for again for this long, in ms. */
const ABSENT_FOR = 100

/** No process stays back for longer than this without anything happening, in ms. */
export const LONGEST_STAY_BACK = ROOM_FOR_EACH * MOST_WAITED_FOR

/**
 * Whose turn it is among the processes before one lock, as far as one of them can tell.
 *
 * A turn begins when the process takes the lock, goes on while its callers hand it to each other, and ends when it is
 * released for everybody to hear. How many heard that, the server says; each of them is to have a turn before the next
 * one here, and each of their releases is heard in turn. So the processes go round without knowing of each other, and
 * a Java peer, which knows nothing of this, finds room.
 */
export class Turn {
  private handOvers = 0
  private began = 0
  /** Releases heard so far, our own included. */
  private heard = 0
  private lastHeard = 0
  private heardAtRelease = 0
  private endedAt = 0
  private releasing = false
  /** How many others heard of the last release. */
  private others = 0
  /** How many of them did not come, when that was found out, and how many are being waited for no longer. */
  private absent = 0
  private absentSince = 0
  private overlooked = 0

  constructor(private readonly clock: Clock) {}

  /** A release was heard. */
  hear(): void {
    this.heard++
    this.lastHeard = this.now()
    // More than were still expected: somebody did come after all.
    if (this.had() > this.others - this.absent) this.absent = Math.max(0, this.others - this.had())
  }

  /**
   * The lock is asked for: by those who stayed back as long as they were to, whether or not all before them had their turn by
   * then, or out of turn, by those who could not wait.
   */
  ask(inTurn: boolean): void {
    this.overlooked = inTurn ? this.missing() : 0
  }

  /** The lock was taken: the turn begins. */
  begin(): void {
    this.handOvers = 0
    this.began = this.now()
    if (this.overlooked === 0) return
    this.absent += this.overlooked
    this.absentSince = this.began
    this.overlooked = 0
  }

  /** Whether the lock may go to the next local caller without anybody else having a chance at it; counts as done. */
  handOver(): boolean {
    if (this.others > 0 && this.handOvers >= MOST_HAND_OVERS) return false
    if (this.now() - this.began >= LONGEST_TURN) return false
    this.handOvers++
    return true
  }

  /** The lock is about to be released for everybody to hear. */
  release(): void {
    this.releasing = true
    this.heardAtRelease = this.heard
  }

  /** It was; so many clients other than this one heard it. */
  released(others: number): void {
    this.releasing = false
    this.others = others
    this.endedAt = this.now()
  }

  /** For how long others are to have the lock to themselves, in ms; 0: whoever waits here may ask. */
  stayBack(): number {
    if (this.releasing) return this.others > 0 ? LONGEST_STAY_BACK : 0
    const missing = Math.min(this.missing(), MOST_WAITED_FOR)
    if (missing === 0) return 0
    return Math.max(0, Math.max(this.endedAt, this.lastHeard) + missing * ROOM_FOR_EACH - this.now())
  }

  /** How many had no turn yet since the last one here. */
  private missing(): number {
    if (this.others === 0) return 0
    if (this.now() - this.absentSince >= ABSENT_FOR) this.absent = 0
    return Math.max(0, this.others - this.absent - this.had())
  }

  /** How many releases of others were heard since the last one here, which is heard as well. */
  private had(): number {
    return Math.max(0, this.heard - this.heardAtRelease - 1)
  }

  private now(): number {
    return this.clock.now().monotonic
  }
}
