import type { Context } from '../client/context'
import type { PermitScripts } from './permit-scripts'

/** For so long a copy of an acquisition is reckoned with, in ms. */
const KEPT_FOR = 60_000

const known = new WeakMap<Context, LatePermits>()

/**
 * Permits that a copy of their acquisition may take again after they were released: its connection broke and could
 * not be fenced. Their callers have no more than the ids.
 */
export class LatePermits {
  private readonly ids = new Set<string>()

  private constructor(private readonly context: Context) {}

  static of(context: Context): LatePermits {
    let late = known.get(context)
    if (!late) {
      late = new LatePermits(context)
      known.set(context, late)
    }
    return late
  }

  add(ids: readonly string[]): void {
    for (const id of ids) {
      this.ids.add(id)
      this.context.clock.after(KEPT_FOR, () => this.ids.delete(id))
    }
  }

  released(scripts: PermitScripts, ids: readonly string[]): void {
    const late = ids.filter((id) => this.ids.has(id))
    if (late.length > 0) this.context.orphans.lateCopy(scripts.orphan(late, undefined))
  }
}
