import type { Context } from '../client/context'
import { perObject } from '../util/per-object'
import type { PermitScripts } from './expirable-permit-scripts'

/** How long a late copy of an acquisition may still arrive, in ms. */
const KEPT_FOR = 60_000

/**
 * Permits that a late copy of their acquisition may take again after their release, because its connection broke and could
 * not be fenced. The callers have only their ids, so this list remembers that a copy is possible.
 */
export class LatePermits {
  private readonly ids = new Set<string>()

  private constructor(private readonly context: Context) {}

  /** The one of this client. */
  static readonly of = perObject((context: Context) => new LatePermits(context))

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
