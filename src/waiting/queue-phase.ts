/**
 * What a queue does. It is woken if a wake-up has come since its last tries were sent, and at rest while it
 * sleeps, rechecks or yields. "Tries": its first waiters try, but if it is the turn of other processes, it is
 * `yielding`. "Tries now": without that. Where no waiter is left to try, the queue stops listening and is
 * idle.
 *
 * | Phase                | Event                                        | What it does                | Phase after |
 * | -------------------- | -------------------------------------------- | --------------------------- | ----------- |
 * | idle                 | a waiter joins                               | tries                       | trying      |
 * | trying               | an answer: granted, but no replica has that  | sends that try again        |             |
 * | trying               | an error that may pass, others are in flight | is woken                    |             |
 * | trying               | the last answer: blocked, or none may enter  | listens; woken: tries       | at rest (a) |
 * | trying               | the last answer: an error that may pass      | the same                    | at rest (a) |
 * | trying               | the last answer: more may enter, or unknown  |                             | tried       |
 * | trying               | the last try failed, or its waiter has left  |                             | tried       |
 * | tried                | after an answer: those that entered have run | tries now; woken: tries (b) | trying      |
 * | tried                | otherwise: at once                           | tries                       | trying      |
 * | at rest              | a wake-up                                    | tries                       | trying      |
 * | at rest              | a hold of this client hands the lock on      | sends the handoff           | trying      |
 * | at rest              | its last waiter leaves                       | stops listening             | idle        |
 * | sleeping, rechecking | its time is over                             | tries                       | trying      |
 * | yielding             | its time is over                             | tries now                   | trying      |
 * | yielding             | this client has released the object          | tries                       | trying      |
 * | rechecking, yielding | a waiter is overdue                          | tries now                   | trying      |
 *
 * (a) Where it tries, it is not at rest. If the queue listens only now to a subscription that is confirmed, a
 * message may have come before: it tries. (b) And listens.
 */
export type QueuePhase =
  /** It has no waiter, or has not begun. */
  | 'idle'
  /** Tries of it are in flight. */
  | 'trying'
  /** None is in flight any more, and it goes on in a moment: those that have entered just now run before. */
  | 'tried'
  /** It waits for a message, until a time. */
  | 'sleeping'
  /** The same, and the object may become free without a message. */
  | 'rechecking'
  /** It leaves the object to other processes, until a time. */
  | 'yielding'
