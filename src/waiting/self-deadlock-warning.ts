import type { Lease } from '../leases/lease'
import type { LeaseRegistry } from '../leases/lease-monitor'
import type { Clock, Moment, Timer } from '../util/clock'
import { quote } from '../util/quote'
import { warnOnce } from '../util/warn-once'
import type { WaitTarget } from './admission'
import type { Attempt } from './attempt'

/** A waiter, and since when it waits. */
interface Waiting {
  readonly joined: Moment
  /** Absent where it cannot wait for a hold of another client. */
  readonly attempt?: Attempt<unknown>
}

type Watched = Pick<WaitTarget, 'key' | 'relatedIds' | 'exclusiveLockId'>

const SUSPICIOUS_AFTER = 5_000
/** The most names of which the client remembers that it has warned. */
const MAX_NAMES = 1_000

/**
 * Warns, once for each name, when a hold has blocked a caller of the same client for a long time. JavaScript
 * has no threads that distinguish a nested call from a call of another caller, and a nested call without a
 * scope waits for itself.
 */
export class SelfDeadlockWarning {
  private readonly warned = new Set<string>()

  constructor(
    private readonly clock: Clock,
    private readonly leases: LeaseRegistry,
    private readonly clientAndServer: string,
  ) {}

  /**
   * Watches the callers that wait for this lock from now on. Returns a function that stops the watch.
   * `waiters` returns them in order. The time of each waiter counts, so many short waits do not add up to a
   * long one.
   */
  watch(target: Watched, waiters: () => Iterable<Waiting>): () => void {
    const { clock } = this
    const { key, relatedIds, exclusiveLockId } = target
    // Readers do not wait for readers, although one may enter long before another one of them.
    const blocking = { key, relatedIds: exclusiveLockId === undefined ? relatedIds : [exclusiveLockId] }
    let timer: Timer
    const check = () => {
      const hold = this.leases.first(blocking)
      const [first] = waiters()
      let blocked = 0
      if (hold && first) {
        blocked = Math.min(clock.elapsedSince(hold.book.acquired), clock.elapsedSince(first.joined))
        if (blocked >= SUSPICIOUS_AFTER) {
          this.warn(hold)
          blocked = 0
        }
      }
      for (const { joined, attempt } of waiters()) {
        if (clock.elapsedSince(joined) < SUSPICIOUS_AFTER) break
        attempt?.waitedLong?.()
      }
      timer = clock.after(SUSPICIOUS_AFTER - blocked, check)
    }
    timer = clock.after(SUSPICIOUS_AFTER, check)
    return () => timer.cancel()
  }

  private warn(hold: Lease) {
    const { objectId } = hold
    if (this.warned.has(objectId)) return
    this.warned.add(objectId)
    const [oldest] = this.warned
    if (this.warned.size > MAX_NAMES) this.warned.delete(oldest!)
    warnOnce(
      hold,
      'RLOCK_SELF_WAIT',
      `The lock ${quote(hold.leased.name)} is held by this client (client ${this.clientAndServer}, ` +
        `${hold.holder}) and has kept another caller of this client waiting for ${SUSPICIOUS_AFTER} ms. If ` +
        'the waiting call is nested in the code that holds the lock, it waits for itself: lock() re-enters ' +
        'only within redisson.run(), within withLock(), or with the same threadId option. Concurrent ' +
        'branches below a hold exclude each other, too: a branch that holds the lock must not wait for a ' +
        'branch that does not.',
    )
  }
}
