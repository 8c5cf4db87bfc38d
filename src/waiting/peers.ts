/** So many turns in a row that missing peers let pass leave one of these peers out of the count. */
const MISSES_OF_ABSENT = 3

/**
 * What this process knows of its peers: the other clients that hear the releases of one lock. The server
 * answers how many they are, and a message tells each of their turns.
 *
 * | Event                     | `count`  | `heard` | echoes  | misses  |
 * | ------------------------- | -------- | ------- | ------- | ------- |
 * | a turn of ours ends       |          | 0       | 0       |         |
 * | we send a release         |          |         | +1 (a)  |         |
 * | the server notified peers | is known |         |         |         |
 * | the release was none      |          |         | -1 (a)  |         |
 * | our own message           |          |         | -1      |         |
 * | the message of a peer     |          | +1      |         | less (b) |
 * | the last reader has left  |          | all     | -1 (c)  | 0 (d)   |
 * | a turn that they missed   |          |         |         | +1      |
 *
 * (a) If this process hears the message. (b) No more peers are absent than were not heard. (c) If it was
 * above 0. (d) If there are peers.
 */
export class Peers {
  /** How many other clients heard the last release here. */
  count = 0
  /** How many releases of others were heard since then. */
  heard = 0
  /** How many messages of own releases are still to be heard. The next messages are taken for them. */
  private echoes = 0
  /** How many turns in a row went by in which peers did not come. */
  private misses = 0

  /** How many peers that are counted had no turn since the last turn here. */
  get missing(): number {
    const absent = Math.floor(this.misses / MISSES_OF_ABSENT)
    return Math.max(0, this.count - absent - this.heard)
  }

  /** From now on they have their turns. */
  turnBegins(): void {
    this.heard = this.echoes = 0
  }

  /** The yield to them ended before all of them were heard. */
  missedTurn(): void {
    this.misses++
  }

  /** A release of this process is sent, and this process hears the message. */
  expectEcho(): void {
    this.echoes++
  }

  /** That release changed nothing, so no message comes. */
  noEcho(): void {
    if (this.echoes > 0) this.echoes--
  }

  /**
   * A release was heard. `byReaders`: it counts for all readers, as no message says how many processes read.
   * Returns whether a peer has released.
   */
  hear(byReaders: boolean): boolean {
    const isOwn = this.echoes > 0
    if (isOwn) this.echoes--
    else this.heard++
    if (byReaders) this.heard = Math.max(this.heard, this.count)
    if (this.heard === 0 || (isOwn && !byReaders)) return false
    this.misses = Math.min(this.misses, MISSES_OF_ABSENT * Math.max(0, this.count - this.heard))
    return true
  }
}
