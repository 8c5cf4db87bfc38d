/**
 * What a queue does. At rest it sleeps, rechecks or yields. "Tries": its first waiters do, but if it is the
 * turn of other processes, it yields. "Tries now": without that.
 *
 * | Phase                | Event                                          | What it does          | Phase after |
 * | -------------------- | ---------------------------------------------- | --------------------- | ----------- |
 * | idle                 | a waiter joins                                 | tries                 | trying      |
 * | idle                 | the same, behind a hold of this client         |                       | at rest     |
 * | trying               | a wake-up                                      |                       | woken       |
 * | at rest              | a wake-up                                      | tries                 | trying      |
 * | yielding             | this client has released the object            | tries                 | trying      |
 * | at rest              | a hold of this client hands the lock on        | sends the handoff     | trying      |
 * | rechecking, yielding | a waiter is overdue                            | tries now             | trying      |
 * | at rest              | its last waiter leaves                         | stops listening       | idle        |
 * | trying, woken        | the last answer: none may enter now            | listens, if it did not |            |
 * | …                    | … and no wake-up came while it listened        |                       | at rest     |
 * | …                    | … and one came, or may have come               | listens, tries        | trying      |
 * | trying               | the last answer: more may enter, or unknown    | tries now             | trying      |
 * | woken                | the same                                       | listens, tries        | trying      |
 * | trying, woken        | the last answer, and no waiter is left         | stops listening       | idle        |
 * | trying, woken        | the last try failed, or its waiter has left    | tries                 | trying      |
 * | trying, woken        | an answer: granted, but no replica has that    | sends that try again  | as before   |
 * | trying, woken        | a try met a transient error, not the last one  |                       | woken       |
 * | trying               | the last try met a transient error             | listens, sleeps a bit | at rest     |
 * | trying, woken        | the same, a wake-up came, or may have come     | listens, tries        | trying      |
 * | sleeping, rechecking | its time is over                               | tries                 | trying      |
 * | yielding             | its time is over                               | tries now             | trying      |
 */
export type QueuePhase =
  /** It has no waiter, or has not begun. */
  | 'idle'
  /** Tries of it are in flight. */
  | 'trying'
  /** The same, and a wake-up has come since they were sent. */
  | 'woken'
  /** It waits for a message, until a time. */
  | 'sleeping'
  /** The same, and the object may become free without a message. */
  | 'rechecking'
  /** It leaves the object to other processes, until a time. */
  | 'yielding'
