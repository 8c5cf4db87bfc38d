import type { Context } from '../client/context'
import type { PermitScripts } from './expirable-permit-scripts'

/** How long a late copy of an acquisition may still arrive, in ms. */
const KEPT_FOR = 60_000

const known = new WeakMap<Context, LatePermits>()

/**
 * Permits that a late copy of their acquisition may take again after their release, because its connection broke and could
 * not be fenced. The callers have only their ids, so this list remembers that a copy is possible.
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
