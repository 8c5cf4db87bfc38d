import { IllegalMonitorStateError, LockLostError } from '../api/errors'
import type { Context } from '../client/context'
import { ambientThread, type LogicalThread } from '../ownership/logical-thread'
import { UnscopedHolds } from '../ownership/unscoped-holds'
import { perObject } from '../util/per-object'
import { quote } from '../util/quote'
import type { UnionHold } from './union-hold'

type Holds = Map<string, UnionHold[]>

const FIRST_SWEEP = 1_000

/** The holds of one client's explicit callers, by `threadId` and lock. */
class ExplicitHolds {
  readonly holds: Holds = new Map()
  private sweepAt = FIRST_SWEEP

  /** Drops lost holds from time to time, because many callers never call `unlock()` for them. */
  sweep(): void {
    if (this.holds.size < this.sweepAt) return
    for (const [key, holds] of this.holds) if (!holds.some((hold) => hold.isHeld)) this.holds.delete(key)
    this.sweepAt = Math.max(FIRST_SWEEP, 2 * this.holds.size)
  }
}

const ofThread = perObject((_: LogicalThread): Holds => new Map())
const ofClient = perObject((_: object) => new ExplicitHolds())
const isLive = (hold: UnionHold) => hold.isHeld

/**
 * The holds that `lock()` and `tryLock()` acquired, so that `unlock()` finds them. As with other locks a hold belongs to the
 * caller: another lock object over the same members finds it, too. For a caller without a scope, only the lock object knows
 * the hold.
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
    this.addTo(ofThread(thread), this.id, hold)
  }

  /** Removes the hold that an `unlock()` settles, and returns it; throws if this caller has none. */
  take(threadId: number | undefined): UnionHold {
    const scoped = this.scoped(threadId)
    if (scoped) {
      const [holds, key] = scoped
      const own = holds.get(key)!
      if (own.length === 1) holds.delete(key)
      return own.pop()!
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

  /** The hold that an `unlock()` would settle, if there is one. */
  peek(threadId: number | undefined): UnionHold | undefined {
    const scoped = this.scoped(threadId)
    if (scoped) return scoped[2]
    const thread = ambientThread()
    return threadId === undefined && !thread?.isAlive ? this.unscoped.peek(isLive, thread) : undefined
  }

  private get explicit(): Holds {
    const known = ofClient(this.client)
    known.sweep()
    return known.holds
  }

  /** Adds a hold, and drops lost holds of the same caller that it has not settled. */
  private addTo(holds: Holds, key: string, hold: UnionHold) {
    holds.set(key, [...(holds.get(key) ?? []).filter(isLive), hold])
  }

  private scoped(threadId: number | undefined): [Holds, string, UnionHold] | undefined {
    if (threadId !== undefined) return newest(this.explicit, `${threadId} ${this.id}`)
    const own = ambientThread()
    // Code of an ended thread finds only the holds of that thread.
    for (let thread = own; thread && thread.isAlive === own?.isAlive; thread = thread.parent) {
      const found = newest(ofThread(thread), this.id)
      if (found || !own?.isAlive) return found
    }
    return undefined
  }
}

function newest(holds: Holds, key: string): [Holds, string, UnionHold] | undefined {
  const hold = holds.get(key)?.at(-1)
  return hold && [holds, key, hold]
}
