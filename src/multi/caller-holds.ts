import { IllegalMonitorStateError, LockLostError } from '../api/errors'
import type { Context } from '../client/context'
import { ambientThread, type LogicalThread } from '../ownership/logical-thread'
import { UnscopedHolds } from '../ownership/unscoped-holds'
import { quote } from '../util/quote'
import type { UnionHold } from './union-hold'

type Holds = Map<string, UnionHold[]>

const FIRST_SWEEP = 1_000

/** The holds of one client's explicit callers, by `threadId` and lock. */
class ExplicitHolds {
  readonly holds: Holds = new Map()
  private sweepAt = FIRST_SWEEP

  /** Leases that ran out are unlocked by few: what they leave must not grow for ever. */
  sweep(): void {
    if (this.holds.size < this.sweepAt) return
    for (const [key, holds] of this.holds) if (!holds.some((hold) => hold.isHeld)) this.holds.delete(key)
    this.sweepAt = Math.max(FIRST_SWEEP, 2 * this.holds.size)
  }
}

const ofThreads = new WeakMap<LogicalThread, Holds>()
const ofClients = new WeakMap<object, ExplicitHolds>()
const isLive = (hold: UnionHold) => hold.isHeld

/**
 * What `lock()` and `tryLock()` acquired, for `unlock()` to find. As with other locks it belongs to the caller: another
 * object over the same members finds it, too. A caller without a scope is known to its lock object alone.
 */
export class CallerHolds {
  private readonly unscoped = new UnscopedHolds<UnionHold>()

  constructor(
    private readonly client: Pick<Context, 'clientId'>,
    /** Equal for multi locks over the same members. */
    private readonly id: string,
    private readonly name: string,
  ) {}

  add(hold: UnionHold, threadId: number | undefined): void {
    const thread = ambientThread()
    if (threadId !== undefined) return this.addTo(this.explicit, `${threadId} ${this.id}`, hold)
    hold.thread = thread
    if (!thread?.isAlive) return this.unscoped.add(hold)
    let holds = ofThreads.get(thread)
    if (!holds) {
      holds = new Map()
      ofThreads.set(thread, holds)
    }
    this.addTo(holds, this.id, hold)
  }

  /** Takes out the hold that an `unlock()` is about; throws where this caller has none. */
  take(threadId: number | undefined): UnionHold {
    const scoped = this.scoped(threadId)
    if (scoped) {
      const [holds, key, hold] = scoped
      const rest = holds.get(key)!.filter((each) => each !== hold)
      if (rest.length > 0) holds.set(key, rest)
      else holds.delete(key)
      return hold
    }
    const thread = ambientThread()
    const hold = threadId === undefined && !thread?.isAlive ? this.unscoped.take(isLive, thread) : undefined
    if (hold === 'forgotten')
      throw new LockLostError(
        `A hold of the lock ${quote(this.name)} that this lock object took was lost long ago (client ` +
          `${this.client.clientId}). Acquire the lock again where needed.`,
        this.name,
      )
    if (!hold)
      throw new IllegalMonitorStateError(
        `The lock ${quote(this.name)} is not held by ${threadId === undefined ? 'this caller' : `threadId ${threadId}`} ` +
          `(client ${this.client.clientId}). The caller that acquired a lock must release it, once.`,
      )
    return hold
  }

  /** The hold that an `unlock()` would be about, if any. */
  peek(threadId: number | undefined): UnionHold | undefined {
    const scoped = this.scoped(threadId)
    if (scoped) return scoped[2]
    const thread = ambientThread()
    return threadId === undefined && !thread?.isAlive ? this.unscoped.peek(isLive, thread) : undefined
  }

  private get explicit(): Holds {
    let known = ofClients.get(this.client)
    if (!known) {
      known = new ExplicitHolds()
      ofClients.set(this.client, known)
    }
    known.sweep()
    return known.holds
  }

  /** An expired one, that the caller has not settled, makes room: its next acquisition starts afresh. */
  private addTo(holds: Holds, key: string, hold: UnionHold) {
    holds.set(key, [...(holds.get(key) ?? []).filter(isLive), hold])
  }

  private scoped(threadId: number | undefined): [Holds, string, UnionHold] | undefined {
    if (threadId !== undefined) return newest(this.explicit, `${threadId} ${this.id}`)
    const own = ambientThread()
    // Code that a thread left behind reaches what that thread acquired, and nothing else.
    for (let thread = own; thread && thread.isAlive === own?.isAlive; thread = thread.parent) {
      const found = newest(ofThreads.get(thread), this.id)
      if (found || !own?.isAlive) return found
    }
    return undefined
  }
}

function newest(holds: Holds | undefined, key: string): [Holds, string, UnionHold] | undefined {
  const hold = holds?.get(key)?.at(-1)
  return hold && [holds!, key, hold]
}
