/**
 * What a queue does. It is at rest while it sleeps, rechecks or yields. "Tries": its first waiters try, but
 * if it is the turn of other processes, it yields. "Tries now": without that. Where no waiter is left to try,
 * the queue stops listening and is idle.
 *
 * | Phase                | Event                                           | What it does         | Phase after |
 * | -------------------- | ----------------------------------------------- | -------------------- | ----------- |
 * | idle                 | a waiter joins                                  | tries                | trying      |
 * | idle                 | a waiter joins behind a hold of this client (a) | listens              | at rest     |
 * | at rest              | a wake-up                                       | tries                | trying      |
 * | at rest              | a hold of this client hands the lock on         | sends the handoff    | trying      |
 * | at rest              | its last waiter leaves                          | stops listening      | idle        |
 * | sleeping, rechecking | its time is over                                | tries                | trying      |
 * | yielding             | its time is over                                | tries now            | trying      |
 * | yielding             | this client has released the object             | tries                | trying      |
 * | rechecking, yielding | a waiter is overdue                             | tries now            | trying      |
 * | trying               | a wake-up                                       |                      | woken       |
 * | trying, woken        | an answer: granted, but no replica has that     | sends that try again | as before   |
 * | trying, woken        | a transient error, and other tries are in flight |                     | woken       |
 *
 * The last answer, error or leaving of the tries in flight:
 *
 * | Phase                | Event                                           | What it does         | Phase after |
 * | -------------------- | ----------------------------------------------- | -------------------- | ----------- |
 * | trying               | blocked, or none may enter after the grant      | listens              | at rest (b) |
 * | trying               | a transient error                               | listens              | at rest (b) |
 * | trying               | more may enter, or nothing is known             | tries now            | trying      |
 * | woken                | any of these                                    | listens, tries       | trying      |
 * | trying, woken        | another error, or its waiter has left           | tries                | trying      |
 *
 * (a) The subscription is confirmed, the lock can be handed on, and the waiter waits. (b) If the queue
 * listens only now to a subscription that is confirmed, a message may have come before: it tries.
 */
export type QueuePhase =
  /** It has no waiter, or has not begun. */
  | 'idle'
  /** Tries of it are in flight, or the last one was answered just now. */
  | 'trying'
  /** The same, and a wake-up has come since they were sent. */
  | 'woken'
  /** It waits for a message, until a time. */
  | 'sleeping'
  /** The same, and the object may become free without a message. */
  | 'rechecking'
  /** It leaves the object to other processes, until a time. */
  | 'yielding'
